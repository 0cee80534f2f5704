// The entry point of the image: the name of a process starts that process, everything else is a command of the command line.
// What it starts is the first process of the container, which the kernel lets end by no signal that it does not handle.
import { fileURLToPath } from 'node:url'
import { PROCESSES, readContainerSettings } from './settings.mjs'

const SIGNALS = { SIGTERM: 143, SIGINT: 130 }

/** Until what is started handles a signal itself, it ends at once: nothing is under way yet. */
function endUntilHandled(signal) {
  const end = () => process.exit(SIGNALS[signal])
  process.on(signal, end)
  process.on('newListener', (event, listener) => {
    if (event === signal && listener !== end) process.off(signal, end)
  })
}

for (const signal of Object.keys(SIGNALS)) endUntilHandled(signal)
const [name = '--help', ...args] = process.argv.slice(2)
readContainerSettings(name)
const isProcess = PROCESSES.has(name)
const main = new URL(`../../services/${isProcess ? name : 'cli'}/src/main.ts`, import.meta.url)
process.argv = [process.execPath, fileURLToPath(main), ...(isProcess ? args : [name, ...args])]
await import(main.href)
