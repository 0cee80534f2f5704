// One trace id from the sender's first span to the last effect: message, outbox, job, span, agent, audit record (I9).
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AgentContext } from '@baton/sdk'
import { listTaskHandoffs } from '@baton/store'
import { startTelemetry } from '@baton/telemetry'
import type { TelemetryOptions } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { createInProcessTransport } from '@baton/transport'
import type { Job } from '@baton/transport'
import { createLogger } from '@baton/runtime'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

type Exporter = NonNullable<TelemetryOptions['exporter']>
type Exported = Parameters<Exporter['export']>[0][number]

const spans: Exported[] = []
const exporter: Exporter = {
  export(batch, done) {
    spans.push(...batch)
    done({ code: 0 })
  },
  shutdown: async () => undefined,
}

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('trace context')
})
afterAll(() => pipeline.close())

const TRACESTATE = 'vendor=opaque,other=1'
const traceOf = (traceparent: string | undefined): string => traceparent?.split('-')[1] ?? ''

it('carries one trace id and the tracestate through every hop of a chain', async () => {
  const tracing = await startTelemetry({ service: 'test', exporter })
  const quiet = createLogger({ service: 'test', level: 'silent' })
  const transport = createInProcessTransport({ logger: quiet })
  const jobs: Job[] = []
  const watched = {
    ...transport,
    publish: async (some: readonly Job[]) => {
      jobs.push(...some)
      await transport.publish(some)
    },
  }
  const seen: AgentContext[] = []
  const first = recordingAgent('trace-first', {
    async execute(context) {
      seen.push(context)
      return answer(context, { next: [{ to: 'trace-second', taskDescription: 'go on' }] })
    },
  })
  const second = recordingAgent('trace-second', {
    async execute(context) {
      seen.push(context)
      return answer(context)
    },
  })
  const worker = await pipeline.start([first.agent, second.agent], { transport: watched })
  const task = { ...newTask(), tracestate: TRACESTATE }
  const sent = await pipeline.sender.send(task, 'trace-first')
  await pipeline.taskEnds(sent.taskId)
  await worker.stop()
  await transport.close()
  await tracing.shutdown()

  const traceId = traceOf(task.traceparent)
  const hops = await listTaskHandoffs(pipeline.pool, sent.taskId)
  const decisions = await pipeline.decisions(sent.taskId)
  const everywhere = [
    sent.traceparent,
    ...hops.map((hop) => hop.traceparent),
    ...jobs.map((job) => job.pointer.traceparent),
    ...seen.map((context) => context.message.traceparent),
    ...seen.map((context) => context.traceparent),
    ...decisions.map((row) => row.traceparent),
  ].map(traceOf)
  expect(everywhere).toHaveLength(1 + 2 + 2 + 2 + 2 + 2)
  expect(new Set(everywhere)).toEqual(new Set([traceId]))
  expect(jobs.map((job) => job.pointer.tracestate)).toEqual([TRACESTATE, TRACESTATE])
  expect(seen.map((context) => context.message.tracestate)).toEqual([TRACESTATE, TRACESTATE])
  await eventually(() => pipeline.log().includes(traceId), {
    deadlineMs: 30_000,
    describe: 'log lines name the trace',
  })

  const own = spans.filter((span) => span.spanContext().traceId === traceId)
  expect(own.map((span) => span.name).toSorted()).toEqual([
    'execute trace-first',
    'execute trace-second',
    'process trace-first',
    'process trace-second',
    'send trace-first',
  ])
  const ids = new Set(own.map((span) => span.spanContext().spanId))
  const parents = own.map((span) => span.parentSpanContext?.spanId)
  const roots = parents.filter((parent) => parent === undefined || !ids.has(parent))
  expect(roots).toEqual([task.traceparent.split('-')[2]])
  const processed = own.find((span) => span.name === 'process trace-first')
  expect(processed?.attributes).toMatchObject({
    'messaging.destination.name': 'trace-first',
    'messaging.message.id': sent.handoffId,
    'messaging.message.conversation_id': sent.taskId,
  })
  const published = spans.find((span) => span.name === 'publish')
  expect(published?.links.map((link) => link.context.traceId)).toContain(traceId)
})
