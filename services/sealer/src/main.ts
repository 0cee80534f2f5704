// Starts the sealer as a process of its own: its key and its state are nobody else's.
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { openColdStore } from '@baton/audit'
import { createOpsService } from '@baton/http/ops'
import {
  createDiskWatch,
  createLogger,
  permanent,
  readSettings,
  secureDatabaseUrls,
} from '@baton/runtime'
import { runCommand, runProcess } from '@baton/runtime/process'
import { openParts } from './parts.ts'
import { recoverByCommand } from './recover-command.ts'
import { createSealer } from './sealer.ts'
import { SEALER_SETTINGS } from './settings.ts'

const seal = (): Promise<never> =>
  runProcess('sealer', {
    settings: SEALER_SETTINGS,
    async build({ settings, logger, metrics, life, tls }) {
      const parts = await openParts(settings, { tls, metrics })
      const sealer = createSealer({
        ...parts,
        holder: `${hostname()} ${settings.BATON_SEALER_STATE_FILE}`,
        leaseMs: settings.BATON_SEALER_LEASE_MS,
        everyMs: settings.BATON_SEAL_EVERY_MS,
        heartbeatMs: settings.BATON_SEAL_HEARTBEAT_MS,
        anchorEveryMs: settings.BATON_SEAL_ANCHOR_EVERY_MS,
        taskMapEveryMs: settings.BATON_TASK_MAP_EVERY_MS,
        isAnchorFirstStart: settings.BATON_SEAL_ANCHOR_FIRST_START,
        cold: openColdStore(settings, tls),
        metrics,
        logger,
      })
      const ready = () => sealer.ready
      const { BATON_SEAL_ANCHOR_FILE: anchor } = settings
      const folders = {
        state: dirname(settings.BATON_SEALER_STATE_FILE),
        anchor: anchor && dirname(anchor),
      }
      const disks = createDiskWatch({ folders, metrics, logger })
      return [createOpsService({ settings, life, metrics, logger, tls, ready }), disks, sealer]
    },
  })

function recover(json: boolean): Promise<number> {
  const settings = secureDatabaseUrls(readSettings(SEALER_SETTINGS, process.env))
  const logger = createLogger({ service: 'sealer', level: settings.BATON_LOG_LEVEL })
  const write = (text: string) => process.stdout.write(text)
  return recoverByCommand(settings, { logger, json, write })
}

const unknown = (command: string) =>
  permanent('BATON_USAGE', `there is no command ${JSON.stringify(command)}`, {
    fix: 'Start the sealer without arguments, or let it `recover` its lost state file.',
  })

await runCommand(async () => {
  const [command, flag] = process.argv.slice(2)
  if (command === undefined) return seal()
  if (command === 'recover') return recover(flag === '--json')
  throw unknown(command)
})
