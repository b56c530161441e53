// A caller that knows nothing but the client which oapi-codegen made of the OpenAPI document.
//
// Arguments: the service's address and an organization's key. It prints what it was answered, as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"jiss.test/client/jiss"
)

func main() {
	answers, err := ask(context.Background(), os.Args[1], os.Args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pointer[T any](value T) *T { return &value }

// answered tells what is wrong with an answer that was not the wanted one.
func answered[T any](body *T, status string, text []byte, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	if body == nil {
		return none, fmt.Errorf("%s: %s", status, text)
	}
	return *body, nil
}

func ask(ctx context.Context, address, key string) (map[string]any, error) {
	client, err := jiss.NewClientWithResponses(address, jiss.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("X-API-Key", key)
			return nil
		}))
	if err != nil {
		return nil, err
	}

	var body jiss.PostScoreJSONRequestBody
	request := jiss.ScoreRequest{SessionId: "go-1", OperatorId: "reviewer-ada", Domain: "financial",
		Interaction: jiss.ScoreInteraction{TimeToDecisionMs: 14200.5, Decision: "modified", ModificationExtent: pointer(0.4)}}
	if err := body.FromScoreRequest(request); err != nil {
		return nil, err
	}
	score, err := client.PostScoreWithResponse(ctx, &jiss.PostScoreParams{RoleTier: pointer(jiss.PostScoreParamsRoleTierTier2)}, body)
	if err != nil {
		return nil, err
	}
	either, err := answered(score.JSON200, score.Status(), score.Body, nil)
	if err != nil {
		return nil, err
	}
	nested, err := either.AsScoreResponse()
	if err != nil {
		return nil, err
	}

	var first, second jiss.BatchRequest_Interactions_Item
	if err := first.FromBatchItem(jiss.BatchItem{SessionId: "go-2", TimeToDecisionMs: 8200, Decision: "accepted"}); err != nil {
		return nil, err
	}
	if err := second.FromNestedBatchItem(jiss.NestedBatchItem{SessionId: "go-3",
		Interaction: jiss.BatchInteraction{TimeToDecisionMs: 5000, Decision: "escalated"}}); err != nil {
		return nil, err
	}
	batchAnswer, err := client.PostBatchWithResponse(ctx, nil, jiss.BatchRequest{OperatorId: "reviewer-ada", Domain: "financial",
		Interactions: []jiss.BatchRequest_Interactions_Item{first, second}})
	if err != nil {
		return nil, err
	}
	batch, err := answered(batchAnswer.JSON200, batchAnswer.Status(), batchAnswer.Body, nil)
	if err != nil {
		return nil, err
	}

	commitAnswer, err := client.PostCommitWithResponse(ctx, "go-1", nil, jiss.CommitRequest{OutcomeCorrect: pointer(true)})
	if err != nil {
		return nil, err
	}
	committed, err := answered(commitAnswer.JSON200, commitAnswer.Status(), commitAnswer.Body, nil)
	if err != nil {
		return nil, err
	}

	stakes := jiss.Stakes("high")
	decisionAnswer, err := client.PostDecisionWithResponse(ctx, nil, jiss.DecisionRequest{DecisionId: pointer("go-decision"),
		OperatorId: "reviewer-ada", Domain: "financial", TimeToDecisionMs: 1400, Decision: "accepted", Stakes: &stakes})
	if err != nil {
		return nil, err
	}
	decision, err := answered(decisionAnswer.JSON200, decisionAnswer.Status(), decisionAnswer.Body, nil)
	if err != nil {
		return nil, err
	}

	profileAnswer, err := client.GetProfileWithResponse(ctx, "reviewer-ada",
		&jiss.GetProfileParams{Include: pointer(jiss.GetProfileParamsInclude("projection"))})
	if err != nil {
		return nil, err
	}
	profile, err := answered(profileAnswer.JSON200, profileAnswer.Status(), profileAnswer.Body, nil)
	if err != nil {
		return nil, err
	}

	reportAnswer, err := client.GetReportWithResponse(ctx, &jiss.GetReportParams{PeriodStart: pointer("2026-10-01"), PeriodEnd: pointer("2099-01-01")})
	if err != nil {
		return nil, err
	}
	report, err := answered(reportAnswer.JSON200, reportAnswer.Status(), reportAnswer.Body, nil)
	if err != nil {
		return nil, err
	}

	export, err := client.GetChainExportWithResponse(ctx, &jiss.GetChainExportParams{})
	if err != nil {
		return nil, err
	}

	refused, err := client.PostCommitWithResponse(ctx, "nobody", nil, jiss.CommitRequest{})
	if err != nil {
		return nil, err
	}
	problem, err := answered(refused.JSON404, refused.Status(), refused.Body, nil)
	if err != nil {
		return nil, err
	}

	sessions := []string{}
	for _, result := range batch.Results {
		sessions = append(sessions, result.SessionId)
	}
	return map[string]any{
		"jis":          nested.Jis,
		"band":         nested.Band,
		"tier":         nested.RoleTier,
		"hash":         nested.Evidence.EntryHash,
		"batch":        sessions,
		"committed":    committed.Committed,
		"routing":      decision.RoutingDecision,
		"interactions": profile.Profile.TotalInteractions,
		"findings":     len(report.Report.Findings),
		"bundle":       bytes.Count(export.Body, []byte("\n")),
		"refused":      problem.Error.Code,
	}, nil
}
