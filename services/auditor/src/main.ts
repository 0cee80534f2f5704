// Starts the auditor as a process of its own.
import { createLogger, describeStartFailure, readSettings, runServices } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { createAuditor } from './auditor.ts'
import { AUDITOR_SETTINGS } from './settings.ts'

try {
  const settings = readSettings(AUDITOR_SETTINGS, process.env)
  const logger = createLogger({ service: 'auditor', level: settings.BATON_LOG_LEVEL })
  const auditor = createAuditor({ settings, logger, metrics: createMetrics() })
  await runServices([auditor], { logger, drainMs: settings.BATON_DRAIN_MS })
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exitCode = 1
}
