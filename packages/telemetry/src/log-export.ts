// Sends log lines by OTLP in bounded batches; a collector that is away costs lines, which are counted, and no time.
import { logs } from '@opentelemetry/api'
import { BatchLogRecordProcessor, ConsoleLogRecordExporter } from '@opentelemetry/sdk-logs'
import type { LogRecordExporter, LogRecordProcessor } from '@opentelemetry/sdk-logs'
import type { LogLines } from './log-lines.ts'
import { logRecordOf } from './log-records.ts'
import { exporterNames, numberOf, protocolOf } from './exporter-environment.ts'
import type { Environment } from './exporter-environment.ts'

/** One for each exporter that is named; each line leaves by all of them, and counts as sent by the first. */
export async function logProcessors(
  lines: LogLines,
  environment: Environment,
): Promise<readonly LogRecordProcessor[]> {
  const names = exporterNames(environment, 'LOGS')
  const exporters = await Promise.all(names.map((name) => exporterOf(name, environment)))
  const known = exporters.filter((exporter) => exporter !== undefined)
  return known.map(
    (exporter, index) =>
      new BatchLogRecordProcessor({
        exporter: index === 0 ? counting(exporter, lines) : exporter,
        maxQueueSize: numberOf(environment, 'OTEL_BLRP_MAX_QUEUE_SIZE', 2_048),
        maxExportBatchSize: numberOf(environment, 'OTEL_BLRP_MAX_EXPORT_BATCH_SIZE', 512),
        scheduledDelayMillis: numberOf(environment, 'OTEL_BLRP_SCHEDULE_DELAY', 1_000),
        exportTimeoutMillis: numberOf(environment, 'OTEL_BLRP_EXPORT_TIMEOUT', 30_000),
      }),
  )
}

/** Call once the SDK has started. */
export function sendLines(lines: LogLines): void {
  const logger = logs.getLogger('baton')
  lines.start((line) => logger.emit(logRecordOf(line)))
}

const counting = (exporter: LogRecordExporter, lines: LogLines): LogRecordExporter => ({
  export(records, done) {
    exporter.export(records, (result) => {
      lines.left(records.length, result.code === 0 ? 'sent' : 'lost')
      done(result)
    })
  },
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
})

async function exporterOf(
  name: string,
  environment: Environment,
): Promise<LogRecordExporter | undefined> {
  if (name === 'console') return new ConsoleLogRecordExporter()
  if (name !== 'otlp') return undefined
  const { OTLPLogExporter } = await exporterModule(protocolOf(environment, 'LOGS'))
  return new OTLPLogExporter()
}

function exporterModule(protocol: string) {
  if (protocol === 'grpc') return import('@opentelemetry/exporter-logs-otlp-grpc')
  if (protocol === 'http/json') return import('@opentelemetry/exporter-logs-otlp-http')
  return import('@opentelemetry/exporter-logs-otlp-proto')
}
