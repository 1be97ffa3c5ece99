// The page as a file, made by `savestate ui --export`: the same views, without a server.
import { render } from 'preact'
import { listenToErrors } from './app/errors.js'
import { openExport } from './app/exported.js'
import { Frame } from './app/frame.js'
import { listenToKeys } from './app/keys.js'
import { listenToPrinting } from './app/printing.js'
import { applyTheme } from './app/theme.js'

listenToErrors()
openExport()
applyTheme()
listenToKeys()
listenToPrinting()
const root = document.querySelector('#app')
if (root === null) throw new Error('export.html has no #app')
root.replaceChildren()
render(<Frame />, root)
