// What every command is given: where it writes, what it was told, and when it should stop.
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLogger, openLastingLog, permanent } from '@baton/runtime'
import type { Logger, Settings } from '@baton/runtime'
import type { CLI_SETTINGS } from './settings.ts'
import type { Output } from './terminal/output.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type CliSettings = Settings<typeof CLI_SETTINGS>

export interface Context {
  readonly output: Output
  readonly settings: CliSettings
  /** Handed on to the services that are started. */
  readonly environment: Environment
  /** Folder of the embedded instance, absolute. */
  readonly home: string
  /** Who acts, where the command line said so. */
  readonly actAs: string | undefined
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly interrupt: AbortSignal
}

/** A log of this command itself in `logs/cli.log` of the instance, whose folder is made. Throws where that cannot be. */
export function openLog(home: string): Logger {
  makeFolder(join(home, 'logs'))
  const destination = openLastingLog(join(home, 'logs', 'cli.log'), { isNew: false })
  return createLogger({ service: 'cli', destination })
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    // Node says that a folder on a read-only file system does not exist; the folder above it tells the truth.
    let above = dirname(folder)
    while (!existsSync(above)) above = dirname(above)
    accessSync(above, constants.W_OK)
    throw permanent('BATON_FOLDER_NOT_ALLOWED', `the folder ${folder} cannot be made`, {
      cause,
      fix: 'Name another one with --home, or make it yourself.',
    })
  }
}
