// The contract of `Remote` on a git repository, over HTTP.
import { serveHttp } from '../../support/git-server/git-servers.js'
import { describeGit } from './git-hosts.js'

describeGit('git over HTTP', () => serveHttp(), ['plain'])
