// Starts the sealer as a process of its own: its key and its state are nobody else's.
import {
  createLogger,
  describeStartFailure,
  permanent,
  readSettings,
  runServices,
} from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createOpsService } from '@baton/http/ops'
import { createMetrics } from '@baton/telemetry'
import { openParts } from './parts.ts'
import type { Settings } from './parts.ts'
import { recoverByCommand } from './recover-command.ts'
import { createSealer } from './sealer.ts'
import { SEALER_SETTINGS } from './settings.ts'

async function seal(settings: Settings, logger: Logger): Promise<never> {
  const metrics = createMetrics()
  const sealer = createSealer({
    ...(await openParts(settings)),
    everyMs: settings.BATON_SEAL_EVERY_MS,
    heartbeatMs: settings.BATON_SEAL_HEARTBEAT_MS,
    anchorEveryMs: settings.BATON_SEAL_ANCHOR_EVERY_MS,
    metrics,
    logger,
  })
  const ops = createOpsService({ settings, metrics, logger, ready: () => sealer.sealing })
  return runServices([ops, sealer], { logger, drainMs: settings.BATON_DRAIN_MS })
}

async function main([command, flag]: readonly string[]): Promise<number> {
  if (command !== undefined && command !== 'recover') throw unknown(command)
  const settings = readSettings(SEALER_SETTINGS, process.env)
  const logger = createLogger({ service: 'sealer', level: settings.BATON_LOG_LEVEL })
  if (command === undefined) return seal(settings, logger)
  const write = (text: string) => process.stdout.write(text)
  return recoverByCommand(settings, { logger, json: flag === '--json', write })
}

const unknown = (command: string) =>
  permanent('BATON_USAGE', `there is no command ${JSON.stringify(command)}`, {
    fix: 'Start the sealer without arguments, or let it `recover` its lost state file.',
  })

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(1)
}
