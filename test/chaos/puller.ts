// Agents outside that pull: they claim over HTTP, through the link to the gateway.
import { pause } from './fault.ts'
import { createOutsideWork } from './outside-work.ts'
import type { Execution, OutsideOptions } from './outside-work.ts'

export interface Pullers {
  /** Takes nothing more; resolves when what was taken is settled or lost. */
  stop(): Promise<void>
}

/** The agent types that pull, and what each does. */
const TYPES = ['pulled', 'pulled-chain', 'pulled-parts'] as const
const LOOPS_PER_TYPE = 2
const CLAIM_WAIT_MS = 1_000
const PAUSE_MS = 200

export function startPullers(options: OutsideOptions): Pullers {
  const { ask, execute } = createOutsideWork(options)
  let stopping = false

  async function loop(type: string): Promise<void> {
    const claim = {
      agent: { type, version: '1.0.0', requires: ['text'] },
      max: 4,
      waitMs: CLAIM_WAIT_MS,
    }
    while (!stopping) {
      const claimed = await ask<{ executions: readonly Execution[] }>('/v2/executions/claim', claim)
      if (claimed === undefined) await pause(PAUSE_MS)
      await Promise.all((claimed?.executions ?? []).map((one) => execute(type, one)))
    }
  }

  const loops = TYPES.flatMap((type) => Array.from({ length: LOOPS_PER_TYPE }, () => loop(type)))
  return {
    async stop() {
      stopping = true
      await Promise.all(loops)
    },
  }
}
