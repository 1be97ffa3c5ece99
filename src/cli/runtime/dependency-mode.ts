// The option `--deps` of several commands.
import type { DependencyMode } from '../../index.js'
import type { Options } from '../args/parse.js'

/** Empty without the option; each call has its own default. */
export function dependencyMode(options: Options): { readonly dependencies?: DependencyMode } {
  const mode = options.text('deps')
  // The command table allows no other value.
  return mode === undefined ? {} : { dependencies: mode as DependencyMode }
}
