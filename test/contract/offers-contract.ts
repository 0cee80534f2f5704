// What every backend of protocol v0.1 must do; each runs the same cases.
import { describe, expect, it } from 'vitest'
import { createOffers } from '@baton/offers'
import type { Offers, OfferStorage } from '@baton/offers'
import { AWKWARD_IDS } from '@baton/offers/fixtures/awkward-ids'

const SCAN = {
  description: 'Review the auth module for timing attacks',
  from_agent: 'scanner',
  context: { file: 'src/auth.py', line: 42 },
}

const codeOf = (refused: Promise<unknown>): Promise<unknown> =>
  refused.then(
    () => 'not refused',
    (error: { code?: unknown }) => error.code,
  )

/** Declares the cases; `open` makes an empty storage. */
export function describeOffers(backend: string, open: () => Promise<OfferStorage>): void {
  const openOffers = async (now?: () => number): Promise<Offers> =>
    createOffers({ storage: await open(), ...(now === undefined ? {} : { now }) })

  describe(`${backend}: the calls`, () => {
    it('P06 P07 leads work from the offer to its completion', async () => {
      const offers = await openOffers()
      const made = await offers.createHandoff(SCAN)
      expect(made).toMatchObject({ ...SCAN, status: 'offered', to_agent: '' })
      expect(made.task_id).toMatch(/^[0-9a-f-]{36}$/)
      expect(await offers.listAvailable()).toEqual([made])
      const accepted = await offers.acceptHandoff(made.task_id, 'reviewer')
      expect(accepted.status).toBe('accepted')
      expect(await offers.listAvailable()).toEqual([])
      const completed = await offers.completeHandoff(made.task_id, { context: { findings: 2 } })
      expect(completed).toMatchObject({
        status: 'completed',
        context: { ...SCAN.context, findings: 2 },
      })
      expect(await offers.findHandoff(made.task_id)).toEqual(completed)
    })
    it('P06 rejects, fails, and offers again to whom it was offered before', async () => {
      const offers = await openOffers()
      const { task_id: declined } = await offers.createHandoff(SCAN)
      expect((await offers.rejectHandoff(declined, { context: { reason: 'busy' } })).status).toBe(
        'rejected',
      )
      const { task_id: id } = await offers.createHandoff({ ...SCAN, to_agent: 'reviewer' })
      await offers.acceptHandoff(id, 'reviewer')
      expect(await offers.failHandoff(id, { context: { reason: 'crashed' } })).toMatchObject({
        status: 'failed',
        context: { reason: 'crashed', accepted_by: 'reviewer' },
      })
      const again = await offers.reofferHandoff(id)
      expect(again).toMatchObject({ status: 'offered', to_agent: 'reviewer' })
      expect(again.context).toEqual(SCAN.context)
      await offers.acceptHandoff(id, 'reviewer')
    })
    it('P03 refuses each other step with an error, and changes nothing', async () => {
      const offers = await openOffers()
      const { task_id: id } = await offers.createHandoff(SCAN)
      const refusedIn = async (...names: readonly (keyof typeof STEPS)[]) => {
        const before = await offers.findHandoff(id)
        for (const name of names)
          expect(await codeOf(STEPS[name](offers, id))).toBe('BATON_OFFER_STATUS')
        expect(await offers.findHandoff(id)).toEqual(before)
      }
      await refusedIn('complete', 'fail', 'reoffer')
      await offers.acceptHandoff(id, 'reviewer')
      await refusedIn('accept', 'reject', 'reoffer')
      await offers.failHandoff(id)
      await refusedIn('accept', 'complete', 'fail', 'reject')
      await offers.reofferHandoff(id)
      await offers.acceptHandoff(id, 'reviewer')
      await offers.completeHandoff(id)
      await refusedIn('accept', 'complete', 'fail', 'reject', 'reoffer')
      const { task_id: declined } = await offers.createHandoff(SCAN)
      await offers.rejectHandoff(declined)
      for (const step of Object.values(STEPS))
        expect(await codeOf(step(offers, declined))).toBe('BATON_OFFER_STATUS')
    })
    it('P04 moves updated_at with every step, also where the clock stands still, and created_at never', async () => {
      const offers = await openOffers(() => Date.UTC(2026, 10, 22))
      const { task_id: id, created_at: created } = await offers.createHandoff(SCAN)
      const steps = [STEPS.accept, STEPS.fail, STEPS.reoffer, STEPS.accept, STEPS.complete]
      const times = [created]
      for (const step of steps) {
        const handoff = await step(offers, id)
        expect(handoff.created_at).toBe(created)
        times.push(handoff.updated_at)
      }
      expect(new Set(times).size).toBe(times.length)
      expect(times.toSorted()).toEqual(times)
    })
    it('P17 shows and gives a targeted handoff to nobody else', async () => {
      const offers = await openOffers()
      const open = await offers.createHandoff({ ...SCAN, task_id: 'open' })
      const mine = await offers.createHandoff({ ...SCAN, task_id: 'mine', to_agent: 'reviewer' })
      const others = await offers.createHandoff({ ...SCAN, task_id: 'others', to_agent: 'tester' })
      const sorted = (all: readonly { task_id: string }[]) =>
        all.map(({ task_id: id }) => id).toSorted()
      expect(sorted(await offers.listAvailable('reviewer'))).toEqual(['mine', 'open'])
      expect(sorted(await offers.listAvailable())).toEqual(['mine', 'open', 'others'])
      expect(await codeOf(offers.acceptHandoff(others.task_id, 'reviewer'))).toBe(
        'BATON_OFFER_NOT_ADDRESSED',
      )
      expect(await codeOf(offers.rejectHandoff(others.task_id, { agent: 'reviewer' }))).toBe(
        'BATON_OFFER_NOT_ADDRESSED',
      )
      expect(await offers.findHandoff('others')).toEqual(others)
      await offers.acceptHandoff(mine.task_id, 'reviewer')
      await offers.acceptHandoff(open.task_id, 'reviewer')
      expect(await codeOf(offers.completeHandoff('open', { agent: 'tester' }))).toBe(
        'BATON_OFFER_NOT_ADDRESSED',
      )
      await offers.completeHandoff('open', { agent: 'reviewer' })
    })
    it('P13 finds by a prefix that fits one, and refuses none and several', async () => {
      const offers = await openOffers()
      for (const id of ['a1b2', 'a1b3', 'a1b', 'c'])
        await offers.createHandoff({ ...SCAN, task_id: id })
      expect((await offers.findHandoff('a1b2')).task_id).toBe('a1b2')
      expect((await offers.findHandoff('a1b')).task_id).toBe('a1b')
      expect((await offers.findHandoff('c')).task_id).toBe('c')
      expect(await codeOf(offers.findHandoff('a1'))).toBe('BATON_OFFER_AMBIGUOUS')
      expect(await codeOf(offers.findHandoff('a'))).toBe('BATON_OFFER_AMBIGUOUS')
      expect(await codeOf(offers.findHandoff(''))).toBe('BATON_OFFER_AMBIGUOUS')
      expect(await codeOf(offers.findHandoff('b'))).toBe('BATON_OFFER_UNKNOWN')
      expect(await codeOf(offers.acceptHandoff('a1', 'x'))).toBe('BATON_OFFER_UNKNOWN')
    })
    it('P18 takes priority, deadline, tags and parent_task_id, and refuses what they are not', async () => {
      const offers = await openOffers()
      const context = {
        priority: 'high',
        deadline: '2026-12-01T00:00:00Z',
        tags: ['auth'],
        parent_task_id: 'p',
      }
      expect((await offers.createHandoff({ ...SCAN, context })).context).toEqual(context)
      for (const wrong of [
        { priority: 9 },
        { deadline: 'soon' },
        { tags: [1] },
        { parent_task_id: 3 },
      ])
        expect(await codeOf(offers.createHandoff({ ...SCAN, context: wrong }))).toBe(
          'BATON_OFFER_INVALID',
        )
      expect((await offers.listHandoffs()).handoffs).toHaveLength(1)
    })
    it('refuses what is no handoff, an id that is taken, and what grows too large', async () => {
      const offers = await openOffers()
      expect(await codeOf(offers.createHandoff({ ...SCAN, from_agent: '' }))).toBe(
        'BATON_OFFER_INVALID',
      )
      expect(await codeOf(offers.createHandoff({ ...SCAN, task_id: '' }))).toBe(
        'BATON_OFFER_INVALID',
      )
      await offers.createHandoff({ ...SCAN, task_id: 'a' })
      expect(await codeOf(offers.createHandoff({ ...SCAN, task_id: 'a' }))).toBe(
        'BATON_OFFER_EXISTS',
      )
      const large = { text: 'x'.repeat(1_048_576) }
      expect(await codeOf(offers.createHandoff({ ...SCAN, context: large }))).toBe(
        'BATON_OFFER_INVALID',
      )
      await offers.acceptHandoff('a', 'b')
      expect(await codeOf(offers.completeHandoff('a', { context: large }))).toBe(
        'BATON_OFFER_INVALID',
      )
      expect((await offers.findHandoff('a')).status).toBe('accepted')
    })
    it('P14 keeps every id apart, whatever it is', async () => {
      const offers = await openOffers()
      for (const id of AWKWARD_IDS)
        await offers.createHandoff({ ...SCAN, task_id: id, description: id })
      for (const id of AWKWARD_IDS)
        expect((await offers.acceptHandoff(id, 'reviewer')).description).toBe(id)
      const { handoffs, foreign } = await offers.listHandoffs({ status: 'accepted' })
      expect(handoffs.map(({ task_id: id }) => id).toSorted()).toEqual(AWKWARD_IDS.toSorted())
      expect(foreign).toEqual([])
    })
    it('lists at most as many as asked for, says how many there are, and goes on behind them', async () => {
      const offers = await openOffers()
      for (const id of ['a', 'b', 'c']) await offers.createHandoff({ ...SCAN, task_id: id })
      const first = await offers.listHandoffs({ limit: 2 })
      expect(first).toMatchObject({ handoffs: [{}, {}], total: 3, totalIsExact: true })
      const second = await offers.listHandoffs({ limit: 2, after: first.next ?? '' })
      expect(second).toMatchObject({ handoffs: [{}], next: null, total: 3 })
      const ids = [...first.handoffs, ...second.handoffs].map(({ task_id: id }) => id)
      expect(ids.toSorted()).toEqual(['a', 'b', 'c'])
      expect(await offers.listHandoffs({ limit: 3 })).toMatchObject({ next: null })
      expect((await offers.listHandoffs({ status: 'failed' })).handoffs).toEqual([])
    })
  })

  describe(`${backend}: the storage`, () => {
    it('P07 saves, loads and lists texts', async () => {
      const storage = await open()
      expect(await storage.load('a')).toBeUndefined()
      expect(await storage.save('a', text('a'), undefined)).toBe(true)
      const stored = await storage.load('a')
      expect(Buffer.from(stored?.bytes ?? []).toString()).toBe(text('a'))
      expect(await storage.save('a', text('a', 1), 'another version')).toBe(false)
      expect(await storage.save('a', text('a', 1), undefined)).toBe(false)
      expect(await storage.save('b', text('b'), 'any version')).toBe(false)
      expect(await storage.save('a', text('a', 1), stored?.version)).toBe(true)
      expect(await storage.save('a', text('a', 2), stored?.version)).toBe(false)
      const names: string[] = []
      for await (const entry of storage.listAll()) {
        names.push(entry.name)
        expect('bytes' in entry && entry.isPlaceOf('a')).toBe(true)
      }
      expect(names).toHaveLength(1)
    })
    it('P16 gives one of a hundred simultaneous accepts the handoff', async () => {
      const storage = await open()
      const { task_id: id } = await createOffers({ storage }).createHandoff(SCAN)
      const accepts = Array.from({ length: 100 }, (_, index) =>
        createOffers({ storage })
          .acceptHandoff(id, `agent-${index}`)
          .then(
            ({ context }) => context['accepted_by'],
            (error: { code: string }) => error.code,
          ),
      )
      const answers = await Promise.all(accepts)
      const won = answers.filter((answer) => answer !== 'BATON_OFFER_STATUS')
      expect(won).toHaveLength(1)
      expect((await createOffers({ storage }).findHandoff(id)).context['accepted_by']).toBe(won[0])
    })
  })
}

const text = (id: string, round = 0): string =>
  JSON.stringify({
    task_id: id,
    from_agent: 'a',
    status: 'offered',
    description: `round ${round}`,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  })

const STEPS = {
  accept: (offers: Offers, id: string) => offers.acceptHandoff(id, 'reviewer'),
  complete: (offers: Offers, id: string) => offers.completeHandoff(id),
  fail: (offers: Offers, id: string) => offers.failHandoff(id),
  reject: (offers: Offers, id: string) => offers.rejectHandoff(id),
  reoffer: (offers: Offers, id: string) => offers.reofferHandoff(id),
}
