// Starts the auditor as a process of its own.
import {
  createLife,
  createLogger,
  describeStartFailure,
  readSettings,
  runServices,
} from '@baton/runtime'
import { createOpsService } from '@baton/http/ops'
import { createMetrics } from '@baton/telemetry'
import { createAuditor } from './auditor.ts'
import { AUDITOR_SETTINGS } from './settings.ts'

try {
  const settings = readSettings(AUDITOR_SETTINGS, process.env)
  const logger = createLogger({ service: 'auditor', level: settings.BATON_LOG_LEVEL })
  const metrics = createMetrics()
  const auditor = createAuditor({ settings, logger, metrics })
  const life = createLife()
  const ready = async () => !life.draining && (await auditor.ready())
  const ops = createOpsService({ settings, metrics, logger, ready })
  await runServices([ops, auditor], { logger, drainMs: settings.BATON_DRAIN_MS, life })
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exitCode = 1
}
