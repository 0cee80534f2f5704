// The entry point of the image: the name of a process starts that process, everything else is a command of the command line.
import { fileURLToPath } from 'node:url'
import { PROCESSES, readContainerSettings } from './settings.mjs'
import { endUntilHandled } from './signals.mjs'

endUntilHandled()
const [name = '--help', ...args] = process.argv.slice(2)
readContainerSettings(name)
const isProcess = PROCESSES.has(name)
const main = new URL(`../../services/${isProcess ? name : 'cli'}/src/main.ts`, import.meta.url)
process.argv = [process.execPath, fileURLToPath(main), ...(isProcess ? args : [name, ...args])]
await import(main.href)
