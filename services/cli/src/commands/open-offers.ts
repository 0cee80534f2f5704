// Where the handoffs of protocol v0.1 are, as the settings say: a folder of files, or a table in Postgres.
import { resolve } from 'node:path'
import { createOffers, openFolder } from '@baton/offers'
import type { Offers, OfferStorage } from '@baton/offers'
import type { Context } from '../context.ts'

interface OpenedOffers {
  readonly offers: Offers
  readonly storage: OfferStorage
}

/** Runs `work` on them and lets go of what was opened. */
export async function withOffers<Result>(
  { settings }: Context,
  work: (opened: OpenedOffers) => Promise<Result>,
): Promise<Result> {
  const {
    HANDOFF_DATABASE_URL: url,
    HANDOFF_DIR: folder,
    HANDOFF_VALIDATION: validation,
  } = settings
  const { storage, close } =
    url === undefined
      ? { storage: openFolder(resolve(folder)), close: nothing }
      : await openTable(url)
  try {
    return await work({ storage, offers: createOffers({ storage, validation }) })
  } finally {
    await close()
  }
}

const nothing = async (): Promise<void> => undefined

// Loaded only where it is used: a folder needs no driver.
async function openTable(url: string) {
  const { openPostgres } = await import('@baton/offers/postgres')
  return openPostgres(url)
}
