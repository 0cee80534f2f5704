// The consumers of one transport: closing it stops those that run, and one that was stopped takes no memory any more.
import type { Consumer } from './transport.ts'

export interface Consumers {
  add(started: Consumer): Consumer
  stop(): Promise<void>
}

export function createConsumers(): Consumers {
  const running = new Set<Consumer>()
  return {
    add(started) {
      const consumer: Consumer = {
        ...started,
        async stop() {
          await started.stop()
          running.delete(consumer)
        },
      }
      running.add(consumer)
      return consumer
    },
    async stop() {
      await Promise.all([...running].map((consumer) => consumer.stop()))
    },
  }
}
