// What a command is given, read from its options and the environment.
import { isAbsolute, resolve } from 'node:path'
import { readSettings, secureDatabaseUrls, withFilesRead } from '@baton/runtime'
import type { Context, Environment } from './context.ts'
import {
  installationEnvironment,
  readInstallationRecord,
} from './installation/read-installation.ts'
import { readPerson } from './instance/secrets.ts'
import { asOperator } from './instance/tls-files.ts'
import { withoutPrinted } from './program-environment.ts'
import type { GlobalOptions } from './program.ts'
import { OWN_HOME } from './root.ts'
import { CLI_SETTINGS, HANDED_ON_SETTINGS } from './settings.ts'
import { createOutput } from './terminal/output.ts'

interface Given {
  readonly streams: Parameters<typeof createOutput>[0]
  readonly environment: Environment
  readonly interrupt: AbortSignal
}

/** Throws BATON_SETTINGS_INVALID, and BATON_USAGE for somebody whom the instance does not know. */
export function readContext(
  { json = false, home, as: actAs }: GlobalOptions,
  given: Given,
): Context {
  const environment = withoutPrinted(given.environment)
  const chosen = home ?? (environment['BATON_HOME'] || OWN_HOME)
  const folder = isAbsolute(chosen) ? chosen : resolve(chosen)
  const told: Environment = { ...installationEnvironment(folder, actAs), ...environment }
  // On an installation its folder says who is known; a key of one's own names its owner itself.
  const isOwn = told['BATON_PERSON_KEY'] !== undefined || told['BATON_API_KEY'] !== undefined
  if (actAs !== undefined && !isOwn && readInstallationRecord(folder) === undefined)
    readPerson(actAs)
  const settings = secureDatabaseUrls(readSettings(CLI_SETTINGS, told))
  return {
    output: createOutput(given.streams, json, home),
    settings: asOperator(settings, folder),
    environment: withFilesRead({ ...CLI_SETTINGS, ...HANDED_ON_SETTINGS }, told),
    home: folder,
    actAs,
    interrupt: given.interrupt,
  }
}
