// The contract of `Remote` on a git repository, over the file system.
import { serveFiles } from '../../support/git-server/git-servers.js'
import { describeGit } from './git-hosts.js'

describeGit('git over the file system', serveFiles, ['plain'])
