// The plugin for opencode. An exception in a plugin stops the tool or the whole run, so every handler is wrapped. opencode
// does not wait for event handlers, so `dispose` waits for pending work.
import { commandLine, type HookCommand } from './hook-command.js'
import type { McpServer } from './mcp-server.js'

export function opencodePlugin(command: HookCommand, server: McpServer | undefined): string {
  const line = commandLine(command, { agent: 'opencode', event: '"$1"' })
  return `// Written by \`savestate install\` opencode. \`savestate uninstall opencode\` removes it.
import { spawn } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

/** Shell command; $1 is the name of the event. */
const LINE = ${JSON.stringify(line)}
const STRICT = ${command.strict}
const TIMEOUT_MS = 30000
${serverLine(server)}const STORE = process.env.SAVESTATE_HOME || join(homedir(), ".savestate")

export const Savestate = async ({ client, directory }) => {
  /** Parent sessions of subagents' sessions. */
  const parents = new Map()
  const roots = new Set()
  const pending = new Set()
  /** Context for the model in this turn, by session. */
  const contexts = new Map()

  const rootOf = (id) => {
    let root = id
    while (parents.has(root)) root = parents.get(root)
    return root
  }

  /** Runs the hook. Never throws, and never takes longer than TIMEOUT_MS. */
  const run = (name, payload) =>
    new Promise((resolve) => {
      let output = ""
      let errors = ""
      let timer
      const done = (failure) => {
        clearTimeout(timer)
        try {
          resolve({ failure, ...(output.trim() === "" ? {} : JSON.parse(output)) })
        } catch {
          resolve({ failure: failure ?? "its answer cannot be read" })
        }
      }
      const onClose = (code, signal) => {
        if (code === 0) return done()
        const reason = errors.trim()
        done(code === 2 && reason !== "" ? reason : "it exited with " + (code ?? signal) + " " + reason)
      }
      try {
        // Without the mark of opencode, by which the program recognizes what the agent itself runs.
        const { OPENCODE: _, ...env } = process.env
        const child = spawn("/bin/sh", ["-c", LINE, "sh", name], { cwd: directory, env, stdio: "pipe" })
        timer = setTimeout(() => {
          child.kill("SIGKILL")
          done("it took too long")
        }, TIMEOUT_MS)
        child.on("error", (error) => done(String(error)))
        child.on("close", onClose)
        child.stdin.on("error", () => {})
        child.stdout.on("data", (part) => (output += part))
        child.stderr.on("data", (part) => (errors = (errors + part).slice(-2000)))
        child.stdin.end(JSON.stringify(payload))
      } catch (error) {
        done(String(error))
      }
    })

  const send = (name, sessionID, payload) => {
    const root = rootOf(sessionID)
    roots.add(root)
    const parentID = root === sessionID ? undefined : root
    const work = run(name, { ...payload, sessionID, parentID, directory }).then(async (answer) => {
      if (answer.tell !== undefined) await notify(answer.tell)
      return answer
    })
    pending.add(work)
    void work.finally(() => pending.delete(work))
    return work
  }

  const notify = async (message) => {
    try {
      await client.tui.showToast({ body: { title: "Savestate", message, variant: "warning" } })
    } catch {
      // There is no screen; \`savestate status\` shows it too.
    }
  }

  /** Shows the user a text in the session, which the model does not get. */
  const show = async (text, { message, parts }) => {
    const typed = parts.map((part) => part.text).join(" ")
    const body = { noReply: true, agent: message.agent, model: message.model }
    const part = { type: "text", text: "> " + typed + "\\n\\n" + text, ignored: true }
    try {
      await client.session.prompt({ path: { id: message.sessionID }, body: { ...body, parts: [part] } })
    } catch {
      await notify(text)
    }
  }
  /** The message that \`show\` sends. */
  const isOwn = ({ parts }) => parts.length > 0 && parts.every((part) => part.ignored === true)

  /** A future opencode may send other shapes: report the error and let the agent continue. */
  const guarded = async (work) => {
    try {
      return await work()
    } catch (error) {
      await notify("The hook of Savestate failed: " + error)
      return { failure: String(error) }
    }
  }

  /** Denies opencode's tools access to the store, in memory: no configuration file changes. */
  const keepOut = async (config) => {
    const { permission = {} } = config
    const rules = typeof permission === "string" ? { "*": permission } : permission
    const { external_directory: outside = {} } = rules
    const others = typeof outside === "string" ? { "*": outside } : outside
    // Also by its real path, if it is a symbolic link.
    const names = existsSync(STORE) ? [STORE, realpathSync(STORE)] : [STORE]
    const mine = Object.fromEntries(names.flatMap((name) => [[name, "deny"], [join(name, "*"), "deny"]]))
    config.permission = { ...rules, external_directory: { ...others, ...mine } }
  }
${server === undefined ? '' : SERVE}
  return {
    config: (config) => guarded(async () => {
      await keepOut(config)${server === undefined ? '' : '\n      serve(config)'}
    }),
    "chat.message": async (input, output) => {
      if (isOwn(output)) return
      const answer = await guarded(async () => {
        contexts.delete(input.sessionID)
        const answer = await send("chat.message", input.sessionID, { input, output })
        if (answer.context !== undefined) contexts.set(input.sessionID, answer.context)
        return answer
      })
      if (answer?.done === undefined) return
      await show(answer.done, output)
      // opencode has no other way to keep a prompt from the model, and shows none of this error.
      throw new Error("Savestate has carried out this command, so it is no prompt")
    },
    "experimental.chat.system.transform": (input, output) =>
      guarded(async () => {
        const context = contexts.get(input.sessionID)
        if (context !== undefined) output.system.push(context)
      }),
    "tool.execute.before": async (input, output) => {
      const answer = await guarded(() => send("tool.execute.before", input.sessionID, { input, output }))
      if (answer.stop !== undefined) throw new Error(answer.stop)
      // It is unknown whether anything was saved, so a strict hook stops the tool.
      if (STRICT && answer.failure !== undefined)
        throw new Error("The hook of Savestate is strict and failed, so the tool was not run: " + answer.failure)
    },
    "tool.execute.after": (input, output) =>
      guarded(async () => {
        await send("tool.execute.after", input.sessionID, { input, output: { title: output?.title } })
      }),
    event: ({ event }) =>
      guarded(async () => {
        const properties = event.properties ?? {}
        const sessionID = properties.sessionID ?? properties.info?.id
        if (event.type === "session.created" && properties.info?.parentID !== undefined)
          parents.set(sessionID, properties.info.parentID)
        if (event.type === "session.created" || event.type === "session.idle")
          await send(event.type, sessionID, { input: { sessionID } })
      }),
    dispose: () =>
      guarded(async () => {
        await Promise.allSettled([...pending])
        await Promise.allSettled([...roots].map((root) => send("dispose", root, {})))
      }),
  }
}
`
}

const SERVE = `
  /** A server of this name in the user's configuration takes precedence. */
  const serve = (config) => {
    config.mcp = { savestate: { type: "local", ...SERVER }, ...config.mcp }
  }
`

function serverLine(server: McpServer | undefined): string {
  if (server === undefined) return ''
  const { command, args, env } = server
  return `const SERVER = ${JSON.stringify({ command: [command, ...args], environment: env })}\n`
}
