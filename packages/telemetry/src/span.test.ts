// Every span has valid ids and one trace, with and without a recorder.
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { messagingAttributes, publishAttributes } from './messaging.ts'
import { exemplarOf, startSpan, startStep } from './span.ts'
import { parseTraceparent } from './trace-context.ts'
import { startTelemetry } from './telemetry.ts'
import type { Telemetry } from './telemetry.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_SPAN = '00f067aa0ba902b7'
const PARENT = `00-${TRACE}-${PARENT_SPAN}-03`
const HANDOFF = { operation: 'send', destination: 'risk', handoffId: 'h1', taskId: 't1' } as const

describe('spans without a recorder', () => {
  it('join the trace of the parent with an id of their own', () => {
    const span = startSpan({ name: 'x', parent: PARENT, tracestate: 'vendor=1' })
    expect(span.traceId).toBe(TRACE)
    expect(span.spanId).not.toBe(PARENT_SPAN)
    expect(span.traceparent).toBe(`00-${TRACE}-${span.spanId}-03`)
    expect(span.tracestate).toBe('vendor=1')
  })

  it('keep the sampling decision of the parent', () => {
    expect(startSpan({ name: 'x', parent: `00-${TRACE}-${PARENT_SPAN}-00` }).traceparent).toMatch(
      /-00$/,
    )
  })

  it.each([undefined, '', 'nonsense'])('start a new sampled trace for parent %j', (parent) => {
    const span = startSpan({ name: 'x', parent, tracestate: 'vendor=1' })
    expect(parseTraceparent(span.traceparent)).toMatchObject({ spanId: span.spanId, flags: 1 })
    expect(span.traceId).not.toBe(TRACE)
    expect(span.tracestate).toBeUndefined()
  })

  it('show a trace in a histogram only where it is sampled', () => {
    const { traceId, spanId, exemplar } = startSpan({ name: 'x', parent: PARENT })
    expect(exemplar).toEqual({ traceId, spanId })
    const unsampled = `00-${TRACE}-${PARENT_SPAN}-00`
    expect(startSpan({ name: 'x', parent: unsampled }).exemplar).toBeUndefined()
    expect(exemplarOf(PARENT)).toEqual({ traceId: TRACE, spanId: PARENT_SPAN })
    expect([exemplarOf(unsampled), exemplarOf('nonsense')]).toEqual([undefined, undefined])
  })

  it('can be used like any other', () => {
    const span = startSpan({ name: 'x' })
    span.setAttributes({ a: 1 })
    expect(span.run(() => 7)).toBe(7)
    span.end({ error: 'BATON_X' })
    span.end()
  })

  it('stay unrecorded when tracing starts without exporter and endpoint', async () => {
    const tracing = await startTelemetry({ service: 'relay' })
    expect(tracing.recording).toBe(false)
    expect(startSpan({ name: 'x', parent: PARENT }).traceId).toBe(TRACE)
    await tracing.shutdown()
  })
})

describe('recorded spans', () => {
  let exporter: InMemorySpanExporter
  let tracing: Telemetry

  beforeEach(async () => {
    exporter = new InMemorySpanExporter()
    tracing = await startTelemetry({ service: 'receiver', exporter })
  })
  afterEach(() => tracing.shutdown())

  // The in-memory exporter forgets at shutdown, so the flush is asked of the provider.
  async function exported(): Promise<readonly ReadableSpan[]> {
    const provider = trace.getTracerProvider() as unknown as {
      getDelegate(): { forceFlush(): Promise<void> }
    }
    await provider.getDelegate().forceFlush()
    return exporter.getFinishedSpans()
  }

  it('name the remote parent and carry its tracestate and random flag on', async () => {
    const span = startSpan({ name: 'x', parent: PARENT, tracestate: 'vendor=1,other=2' })
    expect(span.traceparent).toBe(`00-${TRACE}-${span.spanId}-03`)
    expect(span.tracestate).toBe('vendor=1,other=2')
    span.end()
    const [recorded] = await exported()
    expect(recorded?.spanContext()).toMatchObject({ traceId: TRACE, spanId: span.spanId })
    expect(recorded?.spanContext().traceState?.serialize()).toBe('vendor=1,other=2')
    expect(recorded?.parentSpanContext).toMatchObject({ spanId: PARENT_SPAN, isRemote: true })
    expect(recorded?.resource.attributes['service.name']).toBe('receiver')
  })

  it('have steps, children of this process that may have begun before', async () => {
    const span = startSpan({ name: 'x', parent: PARENT, tracestate: 'vendor=1' })
    startStep(span, { name: 'step', startedAt: 1_700_000_000_000 }).end()
    const [step] = await exported()
    expect(step?.parentSpanContext).toMatchObject({ spanId: span.spanId, isRemote: false })
    expect(step?.spanContext().traceState?.serialize()).toBe('vendor=1')
    expect(step?.startTime).toEqual([1_700_000_000, 0])
    span.end()
  })

  it('show a trace in a histogram only where a sampler took it', async () => {
    expect(startSpan({ name: 'x', parent: PARENT }).exemplar).toMatchObject({ traceId: TRACE })
    const dropped = startSpan({ name: 'x', parent: `00-${TRACE}-${PARENT_SPAN}-02` })
    expect(dropped.exemplar).toBeUndefined()
  })

  it('form one trace when each is the parent of the next', async () => {
    const send = startSpan({ name: 'send risk', kind: 'producer' })
    const process = startSpan({ name: 'process risk', kind: 'consumer', parent: send.traceparent })
    process.end()
    send.end()
    const [second, first] = await exported()
    expect(second?.spanContext().traceId).toBe(first?.spanContext().traceId)
    expect(second?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId)
    expect(first?.parentSpanContext).toBeUndefined()
  })

  it('link related traces and ignore malformed links', async () => {
    startSpan({ name: 'publish', links: [PARENT, 'nonsense'] }).end()
    const [recorded] = await exported()
    expect(recorded?.links.map((link) => link.context)).toEqual([
      { traceId: TRACE, spanId: PARENT_SPAN, traceFlags: 3, isRemote: true },
    ])
  })

  it('follow the parent in not sampling, with ids all the same', async () => {
    const span = startSpan({ name: 'x', parent: `00-${TRACE}-${PARENT_SPAN}-02` })
    expect(span.traceparent).toBe(`00-${TRACE}-${span.spanId}-02`)
    expect(span.spanId).not.toBe(PARENT_SPAN)
    span.end()
    expect(await exported()).toEqual([])
  })

  it('end once, with the code of what went wrong', async () => {
    const span = startSpan({ name: 'x' })
    span.end({ error: 'BATON_AUDIT_DOWN' })
    span.end()
    const recorded = await exported()
    expect(recorded).toHaveLength(1)
    expect(recorded[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'BATON_AUDIT_DOWN' })
    expect(recorded[0]?.attributes['error.type']).toBe('BATON_AUDIT_DOWN')
  })

  it('are active while they run work, so that a library’s spans nest under them', async () => {
    const span = startSpan({ name: 'execute', parent: PARENT })
    await span.run(async () => {
      await Promise.resolve()
      trace.getTracer('some library').startSpan('inner').end()
    })
    span.end()
    const [inner] = await exported()
    expect(inner?.parentSpanContext?.spanId).toBe(span.spanId)
    expect(inner?.spanContext().traceId).toBe(TRACE)
  })

  it('stop being recorded after shutdown and are recorded again by the next tracing', async () => {
    await tracing.shutdown()
    expect(startSpan({ name: 'x', parent: PARENT }).traceId).toBe(TRACE)
    exporter = new InMemorySpanExporter()
    tracing = await startTelemetry({ service: 'receiver', exporter })
    startSpan({ name: 'again' }).end()
    expect((await exported()).map((span) => span.name)).toEqual(['again'])
  })

  it.each([
    ['producer', SpanKind.PRODUCER],
    ['consumer', SpanKind.CONSUMER],
    ['server', SpanKind.SERVER],
    ['client', SpanKind.CLIENT],
    ['internal', SpanKind.INTERNAL],
  ] as const)('keep name, attributes and the kind %s', async (kind, recordedKind) => {
    startSpan({ name: 'send risk', kind, attributes: messagingAttributes(HANDOFF) }).end()
    const [recorded] = await exported()
    expect(recorded?.name).toBe('send risk')
    expect(recorded?.kind).toBe(recordedKind)
    expect(recorded?.attributes['messaging.message.id']).toBe('h1')
  })
})

it('messaging attributes name the queue that carries a batch, and its agent type where there is one', () => {
  const rows = ['risk', 'risk'].map((queue) => ({ queue, handoffId: 'h1' }))
  expect(publishAttributes({ queue: 'redis', rows })).toEqual({
    'messaging.system.name': 'bullmq',
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.batch.message_count': 2,
    'messaging.destination.name': 'risk',
  })
  const mixed = [...rows, { queue: 'intake', handoffId: 'h2' }]
  expect(publishAttributes({ queue: 'in-process', rows: mixed })).toEqual({
    'messaging.system.name': 'in_process',
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.batch.message_count': 3,
  })
})

it('messaging attributes tell whom it was sent to where another agent type takes it', () => {
  expect(messagingAttributes({ ...HANDOFF, destination: 'legal', sentTo: 'risk' })).toMatchObject({
    'messaging.destination.name': 'legal',
    'messaging.destination_publish.name': 'risk',
  })
})

it('messaging attributes are those of the conventions, with ids and names only', () => {
  expect(messagingAttributes(HANDOFF)).toEqual({
    'messaging.system.name': 'baton',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'risk',
    'messaging.message.id': 'h1',
    'messaging.message.conversation_id': 't1',
  })
})
