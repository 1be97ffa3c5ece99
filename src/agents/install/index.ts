export { usesHttp } from './http-record.js'
export type {
  FileChange,
  FoundHooks,
  InstallRequest,
  LauncherState,
  Plan,
  TrustPlan,
} from './install.js'
