export const metadataOf = (identifier: string) => ({
  policy_decision_point: identifier,
  access_evaluation_endpoint: `${identifier}/access/v1/evaluation`,
  access_evaluations_endpoint: `${identifier}/access/v1/evaluations`,
})
