export { type GitOptions, openGit } from './git-driver.js'
