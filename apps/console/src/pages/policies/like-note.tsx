import type { Approval } from '@remit/contract'
import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Row } from '../../ui/layout.tsx'
import { Note } from '../../ui/states.tsx'
import { Literal } from '../../ui/values.tsx'

/** Approval rules decide after policies: an allow alone does not end the questions. */
export const LikeNote = ({ request: { id, requirements } }: { request: Approval }) => (
  <Note tone="info">
    <span>{t.policies.likeNote}</span>
    <Row>
      {requirements.map(({ rule_id }) => (
        <Link
          key={rule_id}
          to="/policies/approval-rules/$id"
          params={{ id: rule_id }}
          search={{ except: id }}
          className={buttonClass()}
        >
          {t.policies.narrow} <Literal>{rule_id}</Literal>
        </Link>
      ))}
    </Row>
  </Note>
)
