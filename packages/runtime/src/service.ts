// One way to start and stop everything long-lived, so that every process drains the same way.
import type { Logger } from './logger.ts'
import { codeOf } from './errors.ts'

export interface Service {
  readonly name: string
  start(): Promise<void>
  /** Finishes what is under way, takes nothing new, releases everything. Safe to call twice. */
  stop(): Promise<void>
}

interface RunOptions {
  readonly logger: Logger
  /** How long a stop may take before the process ends anyway. */
  readonly drainMs: number
}

async function stopAll(services: readonly Service[], logger: Logger): Promise<void> {
  for (const service of services.toReversed()) {
    try {
      await service.stop()
    } catch (error) {
      logger.error({ event: 'service.stop_failed', name: service.name, error })
    }
  }
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

/** A signal to a whole process group reaches a service twice at once; that is not a person insisting. */
const SAME_SIGNAL_MS = 500

function endOnSecondSignal(): void {
  const drainingSince = performance.now()
  const insist = (): void => {
    if (performance.now() - drainingSince > SAME_SIGNAL_MS) process.exit(130)
  }
  process.on('SIGTERM', insist)
  process.on('SIGINT', insist)
}

/**
 * Starts the services in order, waits for SIGTERM or SIGINT, stops them in reverse order and ends
 * the process: 0 after a clean drain, 1 when a start failed or the drain ran out of time, 130 on a
 * second signal. The line `ready` on stdout tells a supervisor that everything has started.
 */
export async function runServices(
  services: readonly Service[],
  { logger, drainMs }: RunOptions,
): Promise<never> {
  const signal = nextSignal()
  const started: Service[] = []
  try {
    for (const service of services) {
      started.push(service)
      await service.start()
    }
  } catch (error) {
    logger.fatal({ event: 'service.start_failed', name: started.at(-1)?.name, error })
    if (error instanceof Error) process.stderr.write(`${describeStartFailure(error)}\n`)
    await stopAll(started, logger)
    process.exit(1)
  }
  process.stdout.write('ready\n')
  logger.info({ event: 'service.started', services: services.map((service) => service.name) })
  const name = await signal
  logger.info({ event: 'service.draining', signal: name })
  endOnSecondSignal()
  setTimeout(() => process.exit(1), drainMs).unref()
  await stopAll(started, logger)
  logger.info({ event: 'service.stopped' })
  process.exit(0)
}

/** What a person needs when a process does not start: the code, what is wrong and how to mend it. */
export function describeStartFailure(error: Error): string {
  const fix = (error as { fix?: string }).fix
  return `${codeOf(error)}: ${error.message}${fix === undefined ? '' : `\n  ${fix}`}`
}
