// A search over API calls of several tenants: whatever they ask, nobody sees, changes or learns of anything of another.
import { randomUUID } from 'node:crypto'
import type { SeededRandom } from '@baton/testkit'
import { fillIn, KINDS, makeCall } from './tenant-calls.ts'
import type { Call, Kind } from './tenant-calls.ts'
import type { Party, TenantWorld } from './tenant-world.ts'

/** So many calls of one tenant in a row, during which nothing of the others may change. */
const WINDOW = 40
/** Calls that a finding shows. */
const SHOWN = 8
/** How much of each, where it shows a whole window. */
const SHORT = 300
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** What a search has asked, and which routes let a tenant do something. */
export interface Searched {
  readonly calls: number
  /** Calls that were also made with ids of nobody's instead of another tenant's. */
  readonly compared: number
  readonly accepted: ReadonlySet<string>
}

interface SearchOptions {
  readonly world: TenantWorld
  readonly random: SeededRandom
  readonly calls: number
}

/** Throws what it finds, with the calls that led to it. */
export async function searchTenants({ world, random, calls }: SearchOptions): Promise<Searched> {
  const known = createKnownIds()
  const asker = createAsker(world)
  const accepted = new Set<string>()
  const routes = [...world.gateway.routes].toSorted()
  const latest: string[] = []
  let asked = 0
  let compared = 0

  const found = (what: string, shown: readonly string[] = latest.slice(-SHOWN)): Error =>
    new Error([`seed ${random.seed}, call ${asked}: ${what}`, ...shown].join('\n  after '))

  function judge(call: Call, caller: Party, answer: Answer): void {
    const shown = `${caller.tenant}: ${call.route} ${call.whose} ${fillIn(call.url, call.places, 'id')} ${fillIn(call.payload ?? '', call.places, 'id')} → ${answer.status} ${answer.body}`
    latest.push(shown.slice(0, 1_500))
    if (
      answer.status >= 500 &&
      !/_NOT_OFFERED|_NOT_CONFIGURED|jsonrpc|slo|erasures|trace|receipts/.test(shown)
    )
      throw found('it failed')
    const leak = leaked(call, { caller, answer, world, known })
    if (leak !== undefined) throw found(`shows ${leak}`)
    if (answer.status < 300) accepted.add(call.route)
    if (answer.status < 400 && /^\S+ \/(v2|api)\//.test(call.route)) known.learn(caller, answer)
  }

  /** Who claims where nothing is waits a while, so few do. */
  const pickRoute = (): string => {
    const route = random.pick(routes)
    return route.endsWith('/claim') && random.next() < 0.8 ? pickRoute() : route
  }

  async function step(caller: Party): Promise<void> {
    const other = random.pick(world.parties.filter((one) => one !== caller))
    const call = makeCall(pickRoute(), { random, caller, other, idOf: known.pick(random) })
    known.say(caller, call)
    const key = random.pick(caller.keys)
    const first = await asker.ask(call, { key, which: 'id' })
    asked += 1
    judge(call, caller, first)
    if (call.whose === 'other' && call.places.some(({ isOthers }) => isOthers)) {
      const second = await asker.ask(call, { key, which: 'nobodys' })
      asked += 1
      compared += 1
      judge(call, caller, second)
      const [theirs, nobodys] = [comparable(call, first, 'id'), comparable(call, second, 'nobodys')]
      if (theirs !== nobodys && !isTaken(call, first))
        throw found(`tells another's from nobody's:\n    ${theirs}\n    ${nobodys}`)
    }
    const needed = first.headers['baton-decision-needed']
    if (typeof needed === 'string' && random.next() < 0.7) {
      const signed = { 'baton-decision': world.people.answer(needed) }
      judge(call, caller, await asker.ask(call, { key, which: 'id', headers: signed }))
      asked += 1
    }
  }

  for (const party of world.parties)
    for (let nth = 0; nth < 3; nth += 1) known.stock(party, await world.stock(party))
  while (asked < calls) {
    const caller = random.pick(world.parties)
    const others = world.parties.filter((one) => one !== caller)
    const watched = random.pick(others)
    const names = others.map(({ tenant }) => tenant)
    const before = await world.digests(names)
    const listsBefore = await asker.lists(watched)
    known.stock(caller, await world.stock(caller))
    for (const end = asked + WINDOW; asked < end;) await step(caller)
    const changes = changesOf(names, before, await world.digests(names))
    if (changes.length > 0)
      throw found(
        `${caller.tenant} changed ${changes.join(', ')}`,
        latest.slice(-WINDOW).map((one) => one.slice(0, SHORT)),
      )
    const listsAfter = await asker.lists(watched)
    const seen = listsAfter.filter((one, index) => one !== listsBefore[index])
    if (seen.length > 0) throw found(`${watched.tenant} sees of it: ${seen.join('; ')}`)
  }
  return { calls: asked, compared, accepted }
}

function createAsker({ gateway }: TenantWorld) {
  interface Asking {
    readonly key: string
    readonly which: 'id' | 'nobodys'
    readonly headers?: Readonly<Record<string, string>>
  }
  async function ask(call: Call, { key, which, headers = {} }: Asking): Promise<Answer> {
    const { payload, places } = call
    const answer = await gateway.server.inject({
      method: call.route.split(' ')[0] as 'GET',
      url: fillIn(call.url, places, which),
      headers: {
        authorization: `Bearer ${key}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
        ...headers,
      },
      ...(payload === undefined ? {} : { payload: fillIn(payload, places, which) }),
    })
    return { status: answer.statusCode, headers: answer.headers, body: answer.body }
  }
  const listed = [...gateway.routes].filter((route) => /^GET \/(v2|api)[^{]*$/.test(route))
  return {
    ask,
    /** Everything that a tenant is shown in lists and counts. */
    lists: ({ keys: [key = ''] }: Party): Promise<string[]> =>
      Promise.all(
        listed.map(async (route) => {
          const url = route.slice('GET '.length)
          const call = {
            route,
            whose: 'own',
            url,
            payload: undefined,
            headers: {},
            places: [],
            mentions: [],
          } as const
          return `${route} ${comparable(call, await ask(call, { key, which: 'id' }), 'id')}`
        }),
      ),
  }
}

/** Headers in which two answers to the same may differ. */
const VARYING = /^(date|traceparent|(x-)?ratelimit.*|connection|keep-alive)$/

/** An answer without the ids that were asked for, and without what differs between any two answers. */
function comparable({ places }: Call, answer: Answer, which: 'id' | 'nobodys'): string {
  const headers = Object.entries(answer.headers).filter(([name]) => !VARYING.test(name))
  let text = `${answer.status} ${JSON.stringify(headers)} ${answer.body}`
  for (const [index, place] of places.entries()) text = text.replaceAll(place[which], `ID${index}`)
  return text
    .replaceAll(UUID, 'NEW')
    .replaceAll(/00-[0-9a-f]{32}-[0-9a-f]{16}-0\d/g, 'SPAN')
    .replaceAll(/\\?"traceId\\?":\\?"\w+\\?"/g, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/("\w*(?:Seconds|Ms)":)[\d.]+/g, '$1N')
}

/** The one thing that is told: an id that a sender chose is taken. */
const isTaken = ({ route }: Call, { status, body }: Answer): boolean =>
  route === 'POST /v2/handoffs' &&
  status === 409 &&
  /"code":"BATON_(TASK_OF_OTHER_TENANT|HANDOFF_CONFLICT)"/.test(body)

interface Judged {
  readonly caller: Party
  readonly answer: Answer
  readonly world: TenantWorld
  readonly known: ReturnType<typeof createKnownIds>
}

/** What of another tenant stands in an answer, beside what the call said itself. */
function leaked(call: Call, { caller, answer, world, known }: Judged): string | undefined {
  let text = `${JSON.stringify(answer.headers)} ${answer.body}`
  for (const one of call.mentions) text = text.replaceAll(one, '')
  const other = world.parties.find((one) => one !== caller && text.includes(one.mark))
  if (other !== undefined) return `${other.tenant}'s mark`
  const id = [...text.matchAll(UUID)].find(([one]) => known.isOfAnother(caller, one))
  return id === undefined ? undefined : `an id of another: ${id[0]}`
}

function changesOf(
  tenants: readonly string[],
  before: readonly ReadonlyMap<string, string>[],
  after: readonly ReadonlyMap<string, string>[],
): string[] {
  return tenants.flatMap((tenant, index) => {
    const [was, is] = [before[index], after[index]]
    const tables = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])
    return [...tables]
      .filter((table) => was?.get(table) !== is?.get(table))
      .map((table) => `${table} of ${tenant} (${was?.get(table)} → ${is?.get(table)})`)
  })
}

/** Which ids are whose: of those that somebody was shown first, theirs. */
function createKnownIds() {
  const owners = new Map<string, Party>()
  const ids = new Map<string, string[]>()
  const said = new Set<string>()
  const listOf = (party: Party, kind: Kind): string[] => {
    const name = `${party.tenant} ${kind}`
    const list = ids.get(name) ?? []
    ids.set(name, list)
    return list
  }
  const add = (party: Party, kind: Kind, id: string): void => {
    if (owners.has(id)) return
    owners.set(id, party)
    listOf(party, kind).push(id)
  }
  const kindOf = (name: string): Kind => KINDS.find((kind) => name === `${kind}Id`) ?? 'thing'
  return {
    /** Whether it is another's, and nothing that a party has said itself: that it may be told again. */
    isOfAnother: (party: Party, id: string) =>
      (owners.get(id) ?? party) !== party && !said.has(`${party.tenant} ${id}`),
    say(party: Party, { places }: Call) {
      for (const { id, nobodys } of places)
        for (const one of [id, nobodys]) said.add(`${party.tenant} ${one}`)
    },
    pick: (random: SeededRandom) => (party: Party, kind: Kind) => {
      const list = listOf(party, kind)
      return list.length === 0 ? randomUUID() : random.pick(list.slice(-200))
    },
    stock(
      party: Party,
      handoffs: readonly { readonly handoffId: string; readonly taskId: string }[],
    ) {
      for (const { handoffId, taskId } of handoffs) {
        add(party, 'handoff', handoffId)
        add(party, 'task', taskId)
      }
    },
    /** Takes what an answer shows first as its reader's. */
    learn(party: Party, { headers, body }: Answer): void {
      if (!String(headers['content-type']).includes('json')) return
      JSON.parse(body, (name, value: unknown) => {
        if (typeof value === 'string' && value.length === 36 && UUID.test(value))
          add(party, kindOf(name), value)
        UUID.lastIndex = 0
        return value
      })
    },
  }
}
