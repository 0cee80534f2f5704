// Hears a NOTIFY. Only a hint: whoever listens also polls, so a lost one costs time, not work.
import type pg from 'pg'
import { connectToWritable } from './servers.ts'

export interface Listener {
  close(): Promise<void>
}

interface ListenOptions {
  readonly url: string
  readonly channel: string
  readonly onWake: () => void
}

const RECONNECT_MS = 1_000
const PING_MS = 5_000

/** Listens on a connection of its own and reconnects for ever, until closed. */
export function listen({ url, channel, onWake }: ListenOptions): Listener {
  let closed = false
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined

  function again(): void {
    clearTimeout(timer)
    void client?.end().catch(() => undefined)
    client = undefined
    if (!closed) timer = setTimeout(() => void open(), RECONNECT_MS)
  }

  async function open(): Promise<void> {
    try {
      const next = await connectToWritable(url, {
        application_name: 'baton-listener',
        connectionTimeoutMillis: 2_000,
        query_timeout: 2_000,
        keepAlive: true,
      })
      if (closed) {
        await next.end()
        return
      }
      client = next
      next.on('error', again)
      next.on('notification', onWake)
      await next.query(`listen ${channel}`)
      ping(next)
    } catch {
      again()
    }
  }

  // A half-open link never reports itself; an unanswered ping does.
  function ping(current: pg.Client): void {
    timer = setTimeout(() => {
      if (closed || client !== current) return
      current.query('select 1').then(() => ping(current), again)
    }, PING_MS)
  }

  void open()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.end().catch(() => undefined)
    },
  }
}
