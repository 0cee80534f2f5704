// The audit service as one long-lived thing: starts only on a durable database, drains before it stops.
import { listenOn } from '@baton/http/server'
import { permanent, refusePlainListening } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import type { FastifyInstance } from 'fastify'
import { openCore } from './core.ts'
import type { AuditorDependencies, AuditorSettings, Core, Part } from './core.ts'
import { createErasurePart } from './erasure-part.ts'
import { createEvidencePart } from './evidence-part.ts'
import { createFollowPart } from './follow-part.ts'
import { createHoldPart } from './hold-part.ts'
import { createRecordPart } from './record-part.ts'
import { createSearchPart } from './search-part.ts'
import { createServer } from './server.ts'
import { createTierPart } from './tier-part.ts'
import { createTilePart } from './tile-part.ts'

export interface Auditor extends Service {
  /** Where it listens once it has started, for example http://127.0.0.1:8421. */
  readonly url: string
  /** Whether its databases answer. */
  ready(): Promise<boolean>
}

/** Nothing is connected before `start`. Throws BATON_KEY_INVALID for unreadable keys. */
export function createAuditor(dependencies: AuditorDependencies): Auditor {
  const { settings, logger, tls } = dependencies
  refusePlainListening(tls, { host: settings.BATON_AUDITOR_HOST, setting: 'BATON_AUDITOR_HOST' })
  const core = openCore(dependencies)
  const server = createServer(core)
  const parts: readonly Part[] = [
    createRecordPart(core),
    createTilePart(core),
    createTierPart(core),
    createHoldPart(core),
    createEvidencePart(core),
    createErasurePart(core),
    createSearchPart(core),
    createFollowPart(core),
  ]
  let url = ''
  let stopped: Promise<void> | undefined
  return {
    name: 'auditor',
    get url() {
      return url
    },
    ready: () => core.answers(),
    async start() {
      await core.start()
      for (const part of parts) await part.prepare(server)
      url = await listen(server, settings)
      for (const part of parts) await part.start?.()
      logger.info({ event: 'audit.listening', url })
    },
    stop() {
      stopped ??= stopInOrder(core, server, parts)
      return stopped
    },
  }
}

// What runs by itself first, then requests, then what they wait for, then what that needs.
async function stopInOrder(core: Core, server: FastifyInstance, parts: readonly Part[]) {
  await Promise.all([core.stop(), ...parts.map(async (part) => part.stop?.())])
  await server.close()
  await core.close()
  await Promise.all(parts.map(async (part) => part.close?.()))
}

async function listen(server: FastifyInstance, settings: AuditorSettings): Promise<string> {
  const host = settings.BATON_AUDITOR_HOST
  const port = settings.BATON_AUDITOR_PORT
  try {
    return await listenOn(server, { host, port })
  } catch (cause) {
    throw permanent('BATON_AUDITOR_LISTEN_FAILED', `cannot listen on ${host}:${port}`, {
      cause,
      fix: 'Stop the process that has the port, or set BATON_AUDITOR_PORT.',
    })
  }
}
