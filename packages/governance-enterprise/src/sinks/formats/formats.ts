import type { Entry, SinkFormat } from '@remit/contract'
import type { Document } from '../targets/target.ts'
import { ecsOf } from './ecs.ts'
import { ocsfOf } from './ocsf.ts'

/** The ledger of an entry. */
export interface LedgerOfEntry {
  readonly orgId: string
  readonly origin: string
}

/** The document of an entry in each format. */
export const FORMATS: Readonly<
  Record<SinkFormat, (entry: Entry, ledger: LedgerOfEntry) => Document>
> = {
  remit: (entry, { orgId }) => ({ org_id: orgId, ...entry }),
  ocsf: ocsfOf,
  ecs: ecsOf,
}
