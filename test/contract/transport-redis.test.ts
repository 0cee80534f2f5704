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

  it('keeps watermarks for each relay and queue, each written only over its own predecessor', async () => {
    const prefix = uniqueName('watermarks')
    const transport = createRedisTransport({ url, logger, prefix })
    const { watermarks } = transport
    if (watermarks === null) throw new Error('Redis can lose its tail')
    const one = { queue: 'risk', relay: 'r1', watermark: 1 }
    const other = { queue: 'legal:de', relay: 'r1', watermark: 4 }
    expect(
      await watermarks.write([
        { ...one, previous: null },
        { ...other, previous: null },
      ]),
    ).toEqual([true, true])
    expect(await watermarks.read([one, other, { ...one, relay: 'r2' }])).toEqual([1, 4, null])
    expect(await watermarks.write([{ ...one, watermark: 2, previous: 1 }])).toEqual([true])
    expect(await watermarks.write([{ ...one, watermark: 9, previous: 1 }])).toEqual([false])
    await deleteKeys(url, prefix)
    expect(await watermarks.write([{ ...one, watermark: 3, previous: 2 }])).toEqual([false])
    expect(await watermarks.read([one])).toEqual([null])
    await transport.close()
  })
})
