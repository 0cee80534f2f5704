// The URL of a database may name several servers, of which one at a time takes writes: how that is written, and which they are.

export interface ServerAddress {
  /** Empty where the driver decides; a path is that of a socket. */
  readonly host: string
  /** Empty where it is the usual one. */
  readonly port: string
}

/** So many servers may hold one database: each is tried in turn, and a person waits for that. */
const SERVERS_MAX = 8

/**
 * Several servers in the form of libpq, `postgres://role@one:5432,two:5432/database`, as a URL that every parser takes: the first is
 * its host, and all stand in `host` and `port`, as libpq takes them too. Any other text is answered as it is.
 */
export function readServerList(text: string): { value: string } | { problem: string } {
  const [, scheme, authority = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s.exec(text) ?? []
  const at = authority.lastIndexOf('@') + 1
  const names = authority.slice(at).split(',')
  if (scheme === undefined || names.length === 1) return { value: text }
  const urls = names.map((name) => (name === '' ? null : URL.parse(`${scheme}${name}/`)))
  const wrong = urls.findIndex((one) => one === null || one.hostname === '')
  if (wrong !== -1)
    return { problem: `expected host:port as server ${wrong + 1} of ${names.length}` }
  if (names.length > SERVERS_MAX)
    return { problem: `expected at most ${SERVERS_MAX} servers, not ${names.length}` }
  const url = URL.parse(`${scheme}${authority.slice(0, at)}${names[0]}${rest}`)
  if (url === null) return { problem: 'expected postgres://role@host:port,host:port/database' }
  const said = urls.map((one) => one?.hostname.replaceAll(/^\[|\]$/g, '') ?? '')
  url.searchParams.set('host', said.map(decoded).join(','))
  url.searchParams.set('port', urls.map((one) => one?.port || USUAL_PORT).join(','))
  return { value: url.href }
}

const USUAL_PORT = '5432'

/** What is no encoding stands for itself. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/**
 * The servers that a URL names, in its order: one, or those of a list; one port may stand for all, as in libpq. Of what it says twice the
 * last counts, and an empty host is the one before the path: so the driver reads it, and it must not connect to any other.
 */
export function serversOfUrl(url: URL): readonly ServerAddress[] {
  const { searchParams: said } = url
  const before = decoded(url.hostname)
  const hosts = (said.getAll('host').at(-1) ?? '').split(',')
  const ports = (said.getAll('port').at(-1) || url.port).split(',')
  const names = hosts.flatMap((host) => (host === '' ? before.split(',') : [host]))
  return names.map((host, at) => ({
    host,
    port: (ports.length === 1 ? ports[0] : ports[at]) ?? '',
  }))
}

/** The servers of a URL, for people; nothing of a text that is no URL. */
export function namesOfServers(text: string): string {
  const url = URL.parse(text)
  const servers = url === null ? [] : serversOfUrl(url)
  return servers.map(({ host, port }) => (port === '' ? host : `${host}:${port}`)).join(' and ')
}
