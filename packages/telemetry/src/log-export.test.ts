// Log lines arrive as records with their severity, event and trace; a collector that is away costs counted lines, never time.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogLines } from './log-lines.ts'
import { createMetrics } from './metrics.ts'
import { exportedLines, startTelemetry } from './telemetry.ts'

interface Attribute {
  readonly key: string
  readonly value: object
}
interface Sent {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeLogs: readonly { readonly logRecords: readonly object[] }[]
  }[]
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const lineOf = (fields: object) =>
  `${JSON.stringify({ level: 'info', time: '2026-11-23T01:02:03.004Z', service: 'relay', pid: 7, ...fields })}\n`

let collector: Server
let bodies: Map<string, Buffer>
/** What the collector does with a request; it answers at once where nothing else is said. */
let answer: (respond: () => void) => void

beforeEach(async () => {
  bodies = new Map()
  answer = (respond) => respond()
  collector = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.set(request.url ?? '', body)
      answer(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    })
  })
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  const { port } = collector.address() as AddressInfo
  vi.stubEnv('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', `http://127.0.0.1:${port}/v1/logs`)
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json')
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  collector.closeAllConnections()
  collector.close()
})

async function started() {
  const metrics = createMetrics()
  const logLines = exportedLines(env, metrics)
  const start = () => startTelemetry({ service: 'baton-relay', environment: env, logLines })
  const dropped = async () =>
    /^baton_log_records_dropped_total (\d+)$/m.exec((await metrics.expose()).body)?.[1]
  return { logLines, start, dropped }
}

async function sent(...lines: readonly string[]): Promise<Sent> {
  const { logLines, start } = await started()
  const telemetry = await start()
  for (const line of lines) logLines?.write(line)
  await telemetry.shutdown()
  return JSON.parse(String(bodies.get('/v1/logs'))) as Sent
}

const recordsOf = ({ resourceLogs }: Sent) =>
  resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
const text = (stringValue: string) => ({ stringValue })

describe('a log line', () => {
  it('is a record with its severity, its event and each of its fields', async () => {
    const line = lineOf({ event: 'handoff.queued', handoffId: 'h1', repeated: false, sizes: [1] })
    expect(recordsOf(await sent(line))).toEqual([
      expect.objectContaining({
        timeUnixNano: '1795395723004000000',
        severityNumber: 9,
        severityText: 'info',
        body: text('handoff.queued'),
        eventName: 'handoff.queued',
        attributes: [
          { key: 'handoffId', value: text('h1') },
          { key: 'repeated', value: { boolValue: false } },
          { key: 'sizes', value: { arrayValue: { values: [{ intValue: 1 }] } } },
        ],
      }),
    ])
  })

  it.each([
    ['debug', 5],
    ['warn', 13],
    ['error', 17],
    ['fatal', 21],
  ])('of level %s has severity %i', async (level, severityNumber) => {
    expect(recordsOf(await sent(lineOf({ level })))).toMatchObject([{ severityNumber }])
  })

  it.each([[{ traceId: TRACE, spanId: SPAN }], [{ traceparent: `00-${TRACE}-${SPAN}-01` }]])(
    'that names a span %j belongs to it',
    async (fields) => {
      const [record] = recordsOf(await sent(lineOf(fields)))
      expect(record).toMatchObject({ traceId: TRACE, spanId: SPAN, attributes: [] })
    },
  )

  it('that names a trace and no span keeps its id', async () => {
    const [record] = recordsOf(await sent(lineOf({ traceId: TRACE })))
    expect(record).toMatchObject({ attributes: [{ key: 'traceId', value: text(TRACE) }] })
    expect(record).not.toHaveProperty('traceId')
  })

  it('tells an error as the conventions tell exceptions', async () => {
    const error = { type: 'BatonError', code: 'BATON_X', message: 'no', at: ['at a', 'at b'] }
    expect(recordsOf(await sent(lineOf({ error })))).toMatchObject([
      {
        attributes: [
          { key: 'error.type', value: text('BATON_X') },
          { key: 'exception.type', value: text('BatonError') },
          { key: 'exception.message', value: text('no') },
          { key: 'exception.stacktrace', value: text('at a\nat b') },
        ],
      },
    ])
  })

  it('comes from a service with a name, a version and an instance', async () => {
    const { resourceLogs } = await sent(lineOf({}))
    expect(resourceLogs[0]?.resource.attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: text('baton-relay') },
        { key: 'service.version', value: text('0.1.0') },
        { key: 'service.instance.id', value: text(expect.stringMatching(/^[0-9a-f-]{36}$/)) },
      ]),
    )
  })

  it('is sent in protobuf where nothing else is said', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', '')
    const { logLines, start } = await started()
    const telemetry = await start()
    logLines?.write(lineOf({ event: 'handoff.queued' }))
    await telemetry.shutdown()
    const body = bodies.get('/v1/logs')
    expect(body?.toString('latin1')).toContain('handoff.queued')
    expect(body?.[0]).not.toBe('{'.charCodeAt(0))
  })

  it('that was written before the telemetry started is sent too', async () => {
    const { logLines, start } = await started()
    logLines?.write(lineOf({ event: 'early' }))
    await (await start()).shutdown()
    expect(String(bodies.get('/v1/logs'))).toContain('early')
  })
})

describe('no line is kept', () => {
  it.each([
    ['no exporter and no endpoint is named', { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: '' }],
    ['the exporter is none', { OTEL_LOGS_EXPORTER: 'none' }],
    ['the SDK is disabled', { OTEL_SDK_DISABLED: 'true' }],
  ])('where %s', async (_, variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    expect((await started()).logLines).toBeUndefined()
  })
})

describe('lines that cannot be sent', () => {
  it('are counted where the collector is away', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', 'http://127.0.0.1:9')
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '100')
    const { logLines, start, dropped } = await started()
    const telemetry = await start()
    for (const event of ['one', 'two', 'three']) logLines?.write(lineOf({ event }))
    await telemetry.shutdown()
    expect(await dropped()).toBe('3')
  })

  it('are counted above the bound, also while a collector does not answer', async () => {
    vi.stubEnv('OTEL_BLRP_MAX_QUEUE_SIZE', '10')
    const { logLines, start, dropped } = await started()
    for (let line = 0; line < 4; line += 1) logLines?.write(lineOf({}))
    const telemetry = await start()
    for (let line = 0; line < 16; line += 1) logLines?.write(lineOf({}))
    expect(await dropped()).toBe('10')
    await telemetry.shutdown()
  })

  it('do not hold up the end of the process for longer than five seconds', async () => {
    const asked = Promise.withResolvers<void>()
    answer = () => asked.resolve()
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '60000')
    const { logLines, start } = await started()
    const telemetry = await start()
    logLines?.write(lineOf({}))
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const ended = telemetry.shutdown()
    await asked.promise
    await vi.advanceTimersByTimeAsync(5_000)
    await expect(ended).resolves.toBeUndefined()
  })
})

it('room is given back by what has left', async () => {
  const dropped = { inc: vi.fn() }
  const lines = createLogLines(1, dropped)
  const taken: string[] = []
  lines.start((line) => void taken.push(line))
  lines.write('a')
  lines.left(1, 'sent')
  lines.write('b')
  lines.write('c')
  expect(taken).toEqual(['a', 'b'])
  expect(dropped.inc.mock.calls).toEqual([[]])
})
