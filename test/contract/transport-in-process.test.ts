// The in-process queue keeps the transport contract, and its buffer has an end.
import { createLogger } from '@baton/runtime'
import { createInProcessTransport } from '@baton/transport'
import { expect, it } from 'vitest'
import { handledBy, jobs } from './transport-contract-kit.ts'
import { describeTransport } from './transport-contract.ts'

const logger = createLogger({ service: 'test', level: 'silent' })

describeTransport('in-process', {
  canLose: false,
  open: async () => ({ transport: createInProcessTransport({ logger }) }),
})

it('refuses a publication that would overflow a queue, whole and as a transient error', async () => {
  const transport = createInProcessTransport({ logger, waitingMax: 10 })
  await transport.publish(jobs('full', 8))
  await expect(transport.publish(jobs('full', 3))).rejects.toMatchObject({
    kind: 'transient',
    code: 'BATON_OVERLOADED',
  })
  expect(await transport.waiting('full')).toBe(8)
  await transport.publish([...jobs('full', 2), ...jobs('other', 10)])
  const handled = handledBy(transport, 'full')
  await handled.reaches(10)
  await transport.publish(jobs('full', 10))
  await handled.reaches(20)
  await transport.close()
})
