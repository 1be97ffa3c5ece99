import { render } from 'preact'
import { Frame } from './app/frame.js'
import { listenToKeys } from './app/keys.js'
import { follow, loadProject } from './app/model.js'
import { applyTheme } from './app/theme.js'
import { takeToken } from './app/transport.js'

takeToken()
applyTheme()
listenToKeys()
const root = document.querySelector('#app')
if (root === null) throw new Error('index.html has no #app')
root.replaceChildren()
render(<Frame />, root)
void loadProject()
void follow(new AbortController().signal)
