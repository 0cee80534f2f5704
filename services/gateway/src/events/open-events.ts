// The way of events out of this gateway: the log followed, webhooks told, readers served.
import type { FastifyInstance } from 'fastify'
import { createEventDeliveries, createEventFollowing, createEventSecrets } from '@baton/engine'
import type { Logger, Service, Tls } from '@baton/runtime'
import type { Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { ReaderBounds } from '../streams/reader-bounds.ts'
import { createEventReaders } from './event-readers.ts'
import { addEventRoutes } from './event-routes.ts'
import { EVENTS_DEFAULTS } from './events-options.ts'
import type { EventsOptions } from './events-options.ts'
import { createLogFollowing } from './log-following.ts'
import { addSubscriptionRoutes } from './subscription-routes.ts'

interface EventsParts {
  /** Without it nothing is followed or told here: readers are shown what others make. */
  readonly events: EventsOptions | undefined
  readonly audit: { readonly url: string; readonly readToken: string }
  readonly pool: Pool
  readonly tenantPool: Pool
  readonly readers: ReaderBounds
  readonly tls?: Tls | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface OpenEvents extends Service {
  addRoutes(scope: FastifyInstance): void
  /** Ends those who follow: a server that closes waits for them. */
  stopReaders(): Promise<void>
}

export function openEvents(parts: EventsParts): OpenEvents {
  const { pool, tenantPool, tls, metrics, logger } = parts
  const { secretsKey, ...options } = { ...EVENTS_DEFAULTS, ...parts.events }
  const secrets = secretsKey === undefined ? undefined : createEventSecrets(secretsKey)
  const isPrivateAllowed = (url: string) => options.privateOrigins.has(new URL(url).origin)
  const readers = createEventReaders({ pool, logger, ...parts.readers })
  const following = parts.events && createLogFollowing({ ...parts.audit, tls })
  const follows =
    following &&
    createEventFollowing({
      pool,
      follow: (request) => following.follow(request),
      keptDays: options.keptDays,
      metrics,
      logger,
    })
  const { lookMs, callMs, endMs } = options
  const times = { lookMs, callMs, endMs }
  const deliveries =
    parts.events &&
    secrets &&
    createEventDeliveries({ pool, secrets, isPrivateAllowed, times, tls, metrics, logger })
  const services = [readers, follows, deliveries].filter((one) => one !== undefined)
  return {
    name: 'events',
    addRoutes(scope) {
      addEventRoutes(scope, { pool: tenantPool, everyPool: pool, readers })
      addSubscriptionRoutes(scope, {
        pool: tenantPool,
        everyPool: pool,
        secrets,
        isPrivateAllowed,
        subscriptionsMax: options.subscriptionsMax,
        wake() {
          follows?.wake()
          deliveries?.wake()
        },
        logger,
      })
    },
    stopReaders: () => readers.stop(),
    async start() {
      for (const one of services) await one.start()
    },
    async stop() {
      await Promise.all(services.map((one) => one.stop()))
      following?.close()
    },
  }
}
