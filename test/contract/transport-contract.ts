// What every transport must do, stated once. A new transport is done when this suite passes on it.
import { uniqueName } from '@baton/testkit'
import type { Transport } from '@baton/transport'
import { afterEach, beforeEach, describe } from 'vitest'
import { handlingContract } from './transport-contract-handling.ts'
import type { CurrentTransport } from './transport-contract-kit.ts'
import { publishingContract } from './transport-contract-publishing.ts'
import { stoppingContract } from './transport-contract-stopping.ts'

export interface TransportHarness {
  readonly transport: Transport
  /** Drops every job, as a flushed Redis does. */
  readonly loseEverything?: () => Promise<void>
}

interface Subject {
  /** Makes the transport anew for each test. */
  readonly open: () => Promise<TransportHarness>
  /** Whether jobs can vanish while the process lives; then `loseEverything` must be there. */
  readonly canLose: boolean
}

/** Runs the suite against one implementation. */
export function describeTransport(name: string, { open, canLose }: Subject): void {
  describe(`transport contract: ${name}`, () => {
    let harness: TransportHarness
    let queue: string

    beforeEach(async () => {
      harness = await open()
      queue = uniqueName('queue')
    })
    afterEach(() => harness.transport.close())

    const current: CurrentTransport = {
      get transport() {
        return harness.transport
      },
      get queue() {
        return queue
      },
      publish: (published) => harness.transport.publish(published),
      async loseEverything() {
        if (harness.loseEverything === undefined) throw new Error('this transport cannot lose jobs')
        await harness.loseEverything()
      },
    }
    publishingContract(current)
    handlingContract(current, canLose)
    stoppingContract(current)
  })
}
