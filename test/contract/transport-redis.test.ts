// BullMQ on Redis keeps the transport contract.
import { createLogger } from '@baton/runtime'
import { acquireRedis, describeWith, uniqueName } from '@baton/testkit'
import { createRedisTransport } from '@baton/transport'
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
})
