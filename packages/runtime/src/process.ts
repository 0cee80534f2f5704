// The life of every Baton process, from its environment to its exit code: a main.ts says only what runs in it.
import { createMetrics, exportedLines, measureProcess, startTelemetry } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { watchDatabaseCertificates } from './certificate-ends.ts'
import { secureDatabaseUrls } from './database-urls.ts'
import { createLogger } from './logger.ts'
import type { Logger } from './logger.ts'
import { refusePlainUrl } from './plaintext.ts'
import type { PROCESS_SETTINGS } from './process-settings.ts'
import { closing, createLife, describeStartFailure, runServices } from './service.ts'
import type { Life, Service } from './service.ts'
import { readSettings } from './settings.ts'
import type { Settings, SettingsSpec } from './settings.ts'
import { createTls } from './tls.ts'
import type { Tls } from './tls.ts'

/** What a process has before its services: they are made with it. */
export interface ProcessParts<Spec extends SettingsSpec> {
  readonly settings: Settings<Spec>
  readonly logger: Logger
  readonly metrics: Metrics
  readonly life: Life
  /** How it speaks TLS, to whom it calls and to whoever calls it. */
  readonly tls: Tls
}

interface ProcessOptions<Spec extends SettingsSpec> {
  readonly settings: Spec
  /** Answers what runs, in the order in which it starts; it stops the other way round. */
  build(parts: ProcessParts<Spec>): readonly Service[] | Promise<readonly Service[]>
  /** Whether stdout carries the process's own answers: then it gets no line `ready`. */
  readonly stdoutIsData?: boolean
}

/** After the drain whoever stops its work still releases it; a supervisor's usual 30 s are not over then. */
const RELEASE_LEASES_MS = 5_000

/**
 * Runs the process called `name` until it is told to stop, with what `runServices` says about its end.
 * Wrong settings and whatever `build` throws are printed with their fix, and the exit code is 1.
 */
export async function runProcess<Spec extends SettingsSpec & typeof PROCESS_SETTINGS>(
  name: string,
  { settings: spec, build, stdoutIsData = false }: ProcessOptions<Spec>,
): Promise<never> {
  return runCommand(async () => {
    const settings = secureDatabaseUrls(readSettings(spec, process.env))
    const own: Settings<typeof PROCESS_SETTINGS> = settings
    const metrics = createMetrics()
    const logLines = exportedLines(process.env, metrics)
    const logger = createLogger({ service: name, level: own.BATON_LOG_LEVEL, also: logLines })
    measureProcess(metrics, name)
    const { tls, watch } = createTls(own, { logger, metrics })
    const { BATON_OTLP_URL: otlpUrl } = own
    if (otlpUrl !== undefined) refusePlainUrl(tls, { url: otlpUrl, setting: 'BATON_OTLP_URL' })
    const life = createLife()
    // Before anything is built: it reads the environment, which is withdrawn where foreign code loads.
    const telemetry = await startTelemetry({
      service: `baton-${name}`,
      environment: process.env,
      otlpUrl,
      metrics,
      logLines,
    })
    const services = await build({ settings, logger, metrics, life, tls })
    const drainMs = own.BATON_DRAIN_MS + RELEASE_LEASES_MS
    const ends = watchDatabaseCertificates(own, { logger, metrics })
    const around = [closing('telemetry', () => telemetry.shutdown()), watch, ends]
    return runServices([...around, ...services], {
      logger,
      drainMs,
      life,
      isAnnounced: !stdoutIsData,
    })
  })
}

/** Ends the process with the exit code that `run` answers; what it throws is printed with its fix, as 1. */
export async function runCommand(run: () => Promise<number>): Promise<never> {
  try {
    process.exit(await run())
  } catch (error) {
    process.stderr.write(`${describeStartFailure(error as Error)}\n`)
    process.exit(1)
  }
}
