export { formatYaml } from './format-yaml.js'
export { MAX_YAML_DEPTH, parseYaml, parseYamlDocument } from './parse-yaml.js'
