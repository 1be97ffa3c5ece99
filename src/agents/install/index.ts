export { usesHttp } from './record.js'
export type {
  FileChange,
  FoundHooks,
  InstallRequest,
  LauncherState,
  Plan,
  TrustPlan,
} from './install.js'
