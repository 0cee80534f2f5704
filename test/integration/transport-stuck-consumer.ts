// A process that takes one job and never ends it, so that a test can kill the process that holds it.
import { createLogger } from '@baton/runtime'
import { createRedisTransport } from '@baton/transport'

const [url = '', queue = ''] = process.argv.slice(2)
const logger = createLogger({ service: 'stuck-consumer', level: 'silent' })

await createRedisTransport({ url, logger }).consume({
  queue,
  concurrency: 1,
  handle: () => {
    process.send?.('started')
    return new Promise<never>(() => undefined)
  },
})
process.send?.('consuming')
