import type { EndpointName } from '../../contract.ts'
import { administrationOperations } from './administration.ts'
import { evaluationOperations } from './evaluation.ts'
import { governanceOperations } from './governance.ts'
import { hostOperations } from './hosts.ts'
import { identityOperations } from './identity.ts'
import type { OperationText } from './operation-text.ts'

/** A missing endpoint does not compile. */
const ALL = {
  ...governanceOperations,
  ...hostOperations,
  ...administrationOperations,
  ...identityOperations,
  ...evaluationOperations,
} satisfies Record<EndpointName, OperationText>

/** Documentation by name of the endpoint. */
export const OPERATIONS: Readonly<Record<string, OperationText>> = ALL
