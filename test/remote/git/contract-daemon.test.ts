// The contract of `Remote` on a git repository, over git daemon.
import { serveGit } from '../../support/git-server/git-servers.js'
import { describeGit } from './git-hosts.js'

describeGit('git over git daemon', serveGit, ['sealed'])
