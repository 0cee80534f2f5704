// One way to start and stop everything long-lived, so that every process drains the same way.
import type { Logger } from './logger.ts'
import { codeOf } from './errors.ts'

export interface Service {
  readonly name: string
  start(): Promise<void>
  /** Finishes what is under way, takes nothing new, releases everything. Safe to call twice. */
  stop(): Promise<void>
  /** Gives up what is under way, so that a stop that has begun ends soon. */
  abort?(): void
}

interface RunOptions {
  readonly logger: Logger
  /** How long a stop may take before the process ends anyway. */
  readonly drainMs: number
  readonly life?: Life
  /** Whether stdout gets the line `ready`; true by default. */
  readonly isAnnounced?: boolean
}

/** What the parts of one process tell each other about its end. */
export interface Life {
  /** True from the moment a stop begins: whoever asks for readiness is told no. */
  readonly draining: boolean
  /** Ends the process in order and with exit code 1, for its supervisor to start it anew. */
  fail(error: Error): void
  /** Ends the process in order, because nothing is left to do. */
  end(): void
}

interface RunningLife extends Life {
  draining: boolean
  readonly ended: Promise<Error | 'done'>
}

/** Makes the life of a process; hand it to its services and to `runServices`. */
export function createLife(): Life {
  const { promise: ended, resolve } = Promise.withResolvers<Error | 'done'>()
  const life: RunningLife = { draining: false, fail: resolve, end: () => resolve('done'), ended }
  return life
}

/** Something that needs no start and is closed when everything that uses it has stopped. */
export const closing = (name: string, close: () => Promise<void>): Service => ({
  name,
  start: async () => undefined,
  stop: close,
})

async function stopAll(services: readonly Service[], logger: Logger): Promise<void> {
  for (const service of services.toReversed()) {
    try {
      await service.stop()
    } catch (error) {
      logger.error({ event: 'service.stop_failed', name: service.name, error })
    }
  }
}

/** A signal to a whole process group reaches a service twice at once; that is not a person insisting. */
const SAME_SIGNAL_MS = 500
/** How long an aborted stop may still take to release what it holds. */
const ABORT_MS = 2_000
const INSISTED = 130

/** Why a stop begins; a service that has a channel to who started it drains when that one is gone. */
type Reason = NodeJS.Signals | 'disconnect'

interface Signals {
  readonly first: Promise<Reason>
  /** Resolves at a later one that is not the same signal once more. */
  readonly insisted: Promise<void>
}

// The listeners stay for ever: without one, the next signal would end the process on the spot.
function listenToSignals(): Signals {
  const { promise: first, resolve: drain } = Promise.withResolvers<Reason>()
  const { promise: insisted, resolve: insist } = Promise.withResolvers<void>()
  let firstAt: number | undefined
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      firstAt ??= performance.now()
      drain(name)
      if (performance.now() - firstAt > SAME_SIGNAL_MS) insist()
    })
  }
  if (process.connected) process.once('disconnect', () => drain('disconnect'))
  return { first, insisted }
}

function abortAll(services: readonly Service[], logger: Logger): void {
  logger.warn({ event: 'service.aborting' })
  process.exitCode = INSISTED
  setTimeout(() => process.exit(INSISTED), ABORT_MS).unref()
  for (const service of services) service.abort?.()
}

/**
 * Starts the services in order, waits for SIGTERM, SIGINT, `life.end` or the end of who started it, stops them in reverse order
 * and ends the process: 0 after a clean drain (or what `process.exitCode` was set to), 1 when a start
 * failed, `life.fail` was called or the drain ran out of time, 130 on a second signal, which aborts
 * what is under way and releases it first. The line `ready` on stdout tells a supervisor that
 * everything has started.
 */
export async function runServices(
  services: readonly Service[],
  { logger, drainMs, life = createLife(), isAnnounced = true }: RunOptions,
): Promise<never> {
  const running = life as RunningLife
  const signals = listenToSignals()
  const ending = Promise.race([signals.first, running.ended])
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
  if (isAnnounced) process.stdout.write('ready\n')
  logger.info({ event: 'service.started', services: services.map((service) => service.name) })
  const why = await ending
  running.draining = true
  describeEnding(why, logger)
  void signals.insisted.then(() => abortAll(started, logger))
  setTimeout(() => process.exit(1), drainMs).unref()
  await stopAll(started, logger)
  logger.info({ event: 'service.stopped' })
  process.exit()
}

function describeEnding(why: Error | Reason | 'done', logger: Logger): void {
  if (why === 'done') return
  if (typeof why === 'string') return logger.info({ event: 'service.draining', signal: why })
  logger.fatal({ event: 'service.failed', error: why })
  process.stderr.write(`${describeStartFailure(why)}\n`)
  process.exitCode = 1
}

/** What a person needs when a process does not start: the code, what is wrong and how to mend it. */
export function describeStartFailure(error: Error): string {
  const fix = (error as { fix?: string }).fix
  return `${codeOf(error)}: ${error.message}${fix === undefined ? '' : `\n  ${fix}`}`
}
