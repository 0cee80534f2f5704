// Connections to services of AWS, or of others that speak the same: each trusts what is trusted when it is made.
import { Agent } from 'node:https'
import type { Tls } from '@baton/runtime'

const SOCKETS_MAX = 50

/** No certificate is shown: these services know their callers by signatures. */
export function createAwsAgent(tls: Tls): Agent {
  // A session that is taken up again would go on with whoever was believed when it began.
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, maxCachedSessions: 0 })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) =>
    connect(Object.assign({}, options, { secureContext: tls.toServices() }), callback)
  return agent
}
