import { render } from 'preact'
import { listenToErrors, reportError } from './app/errors.js'
import { Frame } from './app/frame.js'
import { listenToKeys } from './app/keys.js'
import { follow } from './app/model.js'
import { listenToPrinting } from './app/printing.js'
import { applyTheme } from './app/theme.js'
import { followToken, takeToken } from './app/transport.js'

listenToErrors()
takeToken()
followToken()
applyTheme()
listenToKeys()
listenToPrinting()
const root = document.querySelector('#app')
if (root === null) throw new Error('index.html has no #app')
root.replaceChildren()
// The frame loads the project of the address.
render(<Frame />, root)
void follow(new AbortController().signal, { onError: reportError })
