// BullMQ on Redis keeps the transport contract.
import { createLogger } from '@baton/runtime'
import { acquireRedis, describeWith, uniqueName } from '@baton/testkit'
import { createRedisTransport } from '@baton/transport'
import { expect, it } from 'vitest'
import { describeTransport } from './transport-contract.ts'
import { deleteKeys } from './transport-redis-command.ts'

const logger = createLogger({ service: 'test', level: 'silent' })

describeWith('transport on Redis', await acquireRedis(), ({ url }) => {
  describeTransport('BullMQ on Redis', {
    canLose: true,
    open: async () => {
      const prefix = uniqueName('contract')
      return {
        transport: createRedisTransport({ url, logger, prefix }),
        loseEverything: () => deleteKeys(url, prefix),
      }
    },
  })

  it('keeps marks for each relay and queue, each written only over its own predecessor', async () => {
    const prefix = uniqueName('marks')
    const transport = createRedisTransport({ url, logger, prefix })
    const { marks } = transport
    if (marks === null) throw new Error('Redis can lose its tail')
    const one = { queue: 'risk', relay: 'r1', mark: 1 }
    const other = { queue: 'legal:de', relay: 'r1', mark: 4 }
    expect(
      await marks.write([
        { ...one, previous: null },
        { ...other, previous: null },
      ]),
    ).toEqual([true, true])
    expect(await marks.read([one, other, { ...one, relay: 'r2' }])).toEqual([1, 4, null])
    expect(await marks.write([{ ...one, mark: 2, previous: 1 }])).toEqual([true])
    expect(await marks.write([{ ...one, mark: 9, previous: 1 }])).toEqual([false])
    await deleteKeys(url, prefix)
    expect(await marks.write([{ ...one, mark: 3, previous: 2 }])).toEqual([false])
    expect(await marks.read([one])).toEqual([null])
    await transport.close()
  })
})
