// One JSON log line per event: ids, sizes and codes. Payload text has no field to go into.
import { createRequire } from 'node:module'
import type pino from 'pino'

const require = createRequire(import.meta.url)
// Loaded with the first logger: most commands of the command line write no log, and are to answer at once.
const loadPino = (): typeof pino => require('pino') as typeof pino

export type Logger = pino.Logger

interface LoggerOptions {
  readonly service: string
  readonly level?: string
  /** Where lines go; stderr by default, because stdout belongs to data. */
  readonly destination?: pino.DestinationStream
  /** Who else is given each line, after it was written. */
  readonly also?: pino.DestinationStream | undefined
}

// Errors are reduced to class, code and stack frames: a driver's message may quote a row.
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const frames = framesOf(error)
  const known = error as { code?: unknown; kind?: unknown; cause?: unknown }
  return {
    type: error.name,
    code: known.code,
    kind: known.kind,
    message: error.name === 'BatonError' ? error.message : undefined,
    at: frames.slice(0, 6).map((line) => line.trim()),
    cause: known.cause === undefined ? undefined : serializeError(known.cause),
  }
}

// The stack repeats the message first, and a message may hold lines that look like frames.
function framesOf({ message, stack = '' }: Error): string[] {
  const from = stack.indexOf(message)
  const after = from < 0 ? '' : stack.slice(from + message.length)
  return after.split('\n').filter((line) => /^\s+at /.test(line))
}

// Pino writes the message of an error it is given alone, or as `err`, into the line.
function withoutMessage(first: unknown): unknown {
  if (first instanceof Error) return { error: first }
  if (typeof first !== 'object' || first === null || !('err' in first)) return first
  const { err, ...rest } = first
  return { ...rest, error: err }
}

const both = (first: pino.DestinationStream, second: pino.DestinationStream) => ({
  write(line: string) {
    first.write(line)
    second.write(line)
  },
})

/** Creates the process's logger. Log as `logger.info({ event: 'handoff.accepted', handoffId })`. */
export function createLogger(options: LoggerOptions): Logger {
  const pino = loadPino()
  const { service, level = 'info', also } = options
  const written = options.destination ?? pino.destination({ fd: 2, sync: true })
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: serializeError },
      hooks: {
        logMethod([first, ...rest], method) {
          method.apply(this, [withoutMessage(first), ...rest] as Parameters<pino.LogFn>)
        },
      },
      formatters: { level: (label) => ({ level: label }) },
    },
    also === undefined ? written : both(written, also),
  )
}
