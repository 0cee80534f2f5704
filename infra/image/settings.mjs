// What the image has, which process a container runs, and the settings that it starts with.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Each is `services/NAME/src/main.ts`. Every other word is a command of the command line. */
export const PROCESSES = new Set([
  'archiver',
  'auditor',
  'gateway',
  'receiver',
  'relay',
  'sealer',
  'sender',
  'witness',
])

/** What of the lockfile processes need, as pnpm is told it: no tools, and no binaries of an embedded Postgres, which are optional. */
export const NEEDED = ['--prod', '--no-optional', '--filter-prod={./services/*}...']

/** What `baton init` made for this container is mounted below it, under the path at which it was made. */
const SETTINGS = '/etc/baton'

/** The health check must know the port; a setting may name another one. */
const DEFAULTS = { BATON_OPS_PORT: '9464', BATON_HOME: '/tmp/baton' }

/** Variables of the container count for more than the file, which need not be there. */
export function readContainerSettings(name) {
  const role = PROCESSES.has(name) ? name : name === 'migrate' ? 'admin' : 'operator'
  const file = join(SETTINGS, role, 'settings.env')
  if (existsSync(file)) process.loadEnvFile(file)
  for (const [setting, value] of Object.entries(DEFAULTS)) process.env[setting] ||= value
}

/** The word after the entry point in the command of the first process, also behind an init; undefined where it is another program. */
export function runningName() {
  const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0')
  const at = words.findIndex((word) => basename(word) === 'start.mjs')
  return at < 0 ? undefined : words[at + 1]
}
