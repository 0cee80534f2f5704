// The trace of a task as the auditor tells it, once what a test waits for is recorded.
import { eventually } from '@baton/testkit'
import type { Pipeline } from './pipeline-fixture.ts'

interface Trace {
  readonly verified: boolean
  readonly records: readonly { readonly body: TraceBody }[]
}

interface TraceBody {
  readonly event: string
  readonly handoffId: string
  readonly attempt: number
  readonly act?: { readonly id: string; readonly actor: string }
  readonly stream?: { readonly chunks: number; readonly sha256: string }
}

/** The recorded trace once `event` is part of it. */
export function traceWith(
  { system }: Pick<Pipeline, 'system'>,
  taskId: string,
  ...events: readonly string[]
): Promise<Trace> {
  return eventually(
    async () => {
      const response = await fetch(new URL(`/v1/traces/${taskId}`, system.auditorUrl), {
        headers: { authorization: `Bearer ${system.tokens.read}` },
      })
      const trace = (await response.json()) as Trace
      const seen = trace.records.map(({ body }) => body.event)
      return events.every((event) => seen.includes(event)) && trace
    },
    { deadlineMs: 30_000, describe: `${events.join(', ')} are recorded` },
  )
}
