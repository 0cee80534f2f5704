// The pulling agent of the benchmark: claims in batches over HTTP, does nothing, and settles each batch with one request.
import { createBaton } from '@baton/client'
import { TAKEN } from './message.ts'

/** Each claims again once its batch is settled, so that there is always somebody who asks. */
const LOOPS = 8
const BATCH_MAX = 32

const baton = createBaton({
  url: process.env['BATON_BENCH_GATEWAY_URL'] ?? '',
  key: process.env['BATON_BENCH_KEY'] ?? '',
})
const agent = { type: 'sink', version: '1.0.0', requires: ['payload'] }

async function loop(): Promise<never> {
  for (;;) {
    const claimed = await baton.claim({ agent, max: BATCH_MAX })
    if (claimed.length === 0) continue
    const executions = claimed.map(({ handoffId, fencingToken }) => ({
      handoffId,
      fencingToken,
      outcome: 'complete' as const,
      ...TAKEN,
    }))
    await baton.repeat('settleExecutions', { body: { executions } })
  }
}

process.stdout.write('ready\n')
await Promise.all(Array.from({ length: LOOPS }, loop))
