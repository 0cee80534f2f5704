// Connections to servers, over TLS where the URL says https: each new one shows what this process has read last, and believes whom it
// believes now.
import type { SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import type { Tls } from '@baton/runtime'

type Connector = ReturnType<typeof buildConnector>
type ConnectorOptions = Parameters<typeof buildConnector>[0]

/** Whom a server belongs to, which says who vouches for it and whether it is shown a certificate: see `Tls`. */
export type Whose = 'own' | 'others' | 'services'

const contextFor: Readonly<Record<Whose, (tls: Tls) => SecureContext>> = {
  own: (tls) => tls.toOwn(),
  others: (tls) => tls.toOthers(),
  services: (tls) => tls.toServices(),
}

/** How an undici pool connects. A name, or an address, that the certificate of the other side does not have is refused. */
export function connectOver(
  tls: Tls,
  whose: Whose = 'own',
  options: ConnectorOptions = {},
): Connector {
  let madeFor: Tls['material'] | undefined
  let connect: Connector
  return (target, callback) => {
    // A connector keeps sessions that resume without a certificate being shown again, so the old one goes with the old material.
    if (madeFor !== tls.material) {
      const secureContext = contextFor[whose](tls)
      connect = buildConnector({ ...options, allowH2: false, secureContext })
      madeFor = tls.material
    }
    connect(target, callback)
  }
}
